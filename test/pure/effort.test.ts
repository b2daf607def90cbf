import { describe, expect, it, onTestFinished, vi } from "vitest";
import { countWithin, readEffort, sampleOf } from "../effort.ts";

describe("the effort of the random tests", () => {
  it("is more with `full`, and finer where it is a stride", () => {
    const [usual, full] = [readEffort(""), readEffort("full")];
    expect(full.leaks).toEqual({ least: 100, seconds: 9 });
    expect(usual.walks).toEqual({ least: 1, seconds: 0 });
    expect(full.walks.least).toBeGreaterThan(1);
    expect(usual.faultStride).toBeGreaterThan(full.faultStride);
  });

  it("takes each item with one of the offsets of a stride", () => {
    const items = ["a", "b", "c", "d", "e"];
    expect([0, 1, 2].map((offset) => sampleOf(items, 3, offset))).toEqual([
      ["a", "d"],
      ["c"],
      ["b", "e"],
    ]);
    expect(sampleOf(items, 1, 2)).toEqual(items);
  });

  it("has single amounts, of which the others stay as usual", () => {
    const effort = readEffort("walks=1000, walkSeed=7");
    expect(effort).toEqual({
      ...readEffort(""),
      walks: { least: 1_000, seconds: 0 },
      walkSeed: 7,
    });
  });

  it("counts at least as far as the budget says, and on while its seconds last", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const counted = (seconds: number) => {
      let last = 0;
      for (const at of countWithin({ least: 3, seconds })) {
        last = at;
        vi.advanceTimersByTime(500);
      }
      return last + 1;
    };
    expect([0, 1, 2.5].map(counted)).toEqual([3, 3, 5]);
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
