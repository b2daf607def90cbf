import { expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { COMPONENTS } from "../../src/lib/documented.ts";

it("builds no schema before an operation is requested", async () => {
  expect(createApp().operations.length).toBeGreaterThan(100);
  expect(COMPONENTS.definitions).toEqual([]);
  const { readDocument } = await import("../../scripts/lib/document.ts");
  readDocument();
  expect(COMPONENTS.definitions.length).toBeGreaterThan(100);
});
