import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  REFERENCE_SCRIPT_FILE,
  renderReferenceScript,
} from "../../scripts/lib/reference-script.ts";

describe("the generated script of the reference", () => {
  it("is that of src/reference/script, and small: npm run docs:script writes it", async () => {
    const isCurrent =
      readFileSync(REFERENCE_SCRIPT_FILE, "utf8") === (await renderReferenceScript());
    expect(isCurrent).toBe(true);
  });
});
