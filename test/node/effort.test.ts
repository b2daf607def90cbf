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

  it.each(["walk=1", "leaks=2,LEAKS=3"])("refuses a name that it does not have: %s", (text) => {
    expect(() => readEffort(text)).toThrow(/^EFFORT has no (walk|LEAKS)\. It has: walks, /);
  });
});
