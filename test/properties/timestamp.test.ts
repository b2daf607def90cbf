import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toTimestamp } from "../../src/lib/clock.ts";

const DAY_MS = 86_400_000;
/** 2024-02-29. */
const LEAP_DAY = 19_782 * DAY_MS;

describe("a timestamp", () => {
  it("is the one of JavaScript, also near that of the previous call", () => {
    const near = fc
      .integer({ min: -2 * DAY_MS, max: 2 * DAY_MS })
      .map((offset) => LEAP_DAY + offset);
    const any = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(near, any), { maxLength: 10 }), (times) => {
        for (const time of times) expect(toTimestamp(time)).toBe(new Date(time).toISOString());
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [LEAP_DAY - 1, "2024-02-28T23:59:59.999Z"],
    [LEAP_DAY, "2024-02-29T00:00:00.000Z"],
    [LEAP_DAY + 9 * 3_600_000 + 8 * 60_000 + 7 * 1_000 + 6, "2024-02-29T09:08:07.006Z"],
    [LEAP_DAY + DAY_MS - 1, "2024-02-29T23:59:59.999Z"],
    [LEAP_DAY + DAY_MS, "2024-03-01T00:00:00.000Z"],
  ])("of %i is %s", (time, text) => {
    toTimestamp(LEAP_DAY);
    expect(toTimestamp(time)).toBe(text);
  });
});
