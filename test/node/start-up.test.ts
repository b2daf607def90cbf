import { expect, it, vi } from "vitest";

it("builds no schema before an operation is requested", async () => {
  // The modules that other files of this process have imported have built theirs.
  vi.resetModules();
  const { createApp } = await import("../../src/app.ts");
  const { COMPONENTS } = await import("../../src/lib/documented.ts");
  expect(createApp().operations.length).toBeGreaterThan(100);
  expect(COMPONENTS.definitions).toEqual([]);
  const { readDocument } = await import("../../scripts/lib/document.ts");
  readDocument();
  expect(COMPONENTS.definitions.length).toBeGreaterThan(100);
});
