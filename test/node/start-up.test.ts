import { expect, it } from "vitest";
import { readDocument } from "../../scripts/lib/document.ts";
import { createApp } from "../../src/app.ts";
import { COMPONENTS } from "../../src/lib/documented.ts";

it("builds no schema before an operation is requested", () => {
  expect(createApp().operations.length).toBeGreaterThan(100);
  expect(COMPONENTS.definitions).toEqual([]);
  readDocument();
  expect(COMPONENTS.definitions.length).toBeGreaterThan(100);
});
