import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoundedMap } from "../../src/lib/bounded-map.ts";

describe("a bounded map", () => {
  it("keeps the most recently set keys with their last values", () => {
    const writes = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat()), { maxLength: 50 });
    fc.assert(
      fc.property(writes, fc.integer({ min: 1, max: 8 }), (each, capacity) => {
        const map = new BoundedMap<number, number>(capacity);
        const newestFirst: number[] = [];
        for (const [key, value] of each) {
          map.set(key, value);
          expect(map.size).toBeLessThanOrEqual(capacity);
        }
        for (const [key] of each.toReversed()) {
          if (!newestFirst.includes(key)) newestFirst.push(key);
        }
        const kept = newestFirst.slice(0, capacity).toReversed();
        expect([...map.keys()]).toEqual(kept);
        const last = new Map(each);
        for (const key of kept) expect(map.get(key)).toBe(last.get(key));
      }),
    );
  });

  it("treats a key that is set again as the newest", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
    expect([...map]).toEqual([
      ["a", 3],
      ["c", 4],
    ]);
  });
});
