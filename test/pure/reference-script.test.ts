import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ASSETS_FOLDER } from "../../scripts/lib/assets.ts";
import { buildReferenceScript } from "../../scripts/lib/reference-script.ts";

describe("the script of the reference", () => {
  it("is small, and is what the build has written", async () => {
    const { text } = await buildReferenceScript();
    expect(readFileSync(join(ASSETS_FOLDER, "docs/reference.js"), "utf8") === text).toBe(true);
  });
});
