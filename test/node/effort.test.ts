import { describe, expect, it } from "vitest";
import { readEffort } from "../effort.ts";

describe("the effort of the random tests", () => {
  it("is more with `full`, and finer where it is a stride", () => {
    const [usual, full] = [readEffort(""), readEffort("full")];
    expect(full).toMatchObject({ walks: 40, leaks: 2_000, faultStride: 1 });
    expect(usual.walks).toBeLessThan(full.walks);
    expect(usual.faultStride).toBeGreaterThan(full.faultStride);
  });

  it("has single amounts, of which the others stay as usual", () => {
    const effort = readEffort("walks=1000, walkSeed=7");
    expect(effort).toEqual({ ...readEffort(""), walks: 1_000, walkSeed: 7 });
  });

  it.each([
    ["walk=1", "walk=1"],
    ["leaks=2,LEAKS=3", "LEAKS=3"],
    ["ful", "ful"],
    ["full,walks=1", "full"],
    ["walks=many", "walks=many"],
    ["walks=0", "walks=0"],
  ])("refuses what it does not know: %s", (text, part) => {
    expect(() => readEffort(text)).toThrow(`EFFORT cannot be ${part}. Set it to full, or `);
  });
});
