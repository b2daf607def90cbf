import { describe, expect, it } from "vitest";
import { measure, typical } from "../../packages/console/src/pages/project/dora.ts";

const NONE = { succeeded: 0, failed: 0, canceled: 0, superseded: 0, recoveries: 0 };
const seconds = (median: number) => ({ median, p95: 2 * median });

describe("the DORA numbers", () => {
  it("are of all days, each by its deployments", () => {
    const days = [
      {
        ...NONE,
        date: "2026-11-20",
        succeeded: 3,
        failed: 1,
        queued_seconds: seconds(5),
        run_seconds: seconds(60),
      },
      {
        ...NONE,
        date: "2026-11-22",
        succeeded: 1,
        canceled: 2,
        superseded: 1,
        recoveries: 1,
        recovery_seconds: 600,
        queued_seconds: seconds(9),
        run_seconds: seconds(90),
      },
      { ...NONE, date: "2026-11-23", succeeded: 2, recoveries: 2, recovery_seconds: 60 },
    ];
    expect(measure(days, 14)).toEqual({
      weeklySuccesses: 3,
      failureRate: 1 / 7,
      leadSeconds: 65,
      recoverySeconds: 240,
    });
  });

  it("are unknown without deployments, and not zero", () => {
    expect(measure([], 30)).toEqual({
      weeklySuccesses: 0,
      failureRate: undefined,
      leadSeconds: undefined,
      recoverySeconds: undefined,
    });
    // All were canceled before they started.
    const canceled = { ...NONE, date: "2026-11-20", canceled: 2 };
    expect(measure([canceled], 7).failureRate).toBe(undefined);
    expect(measure([canceled], 7).leadSeconds).toBe(undefined);
  });
});

it("a typical value is the middle one, and the lower one of two", () => {
  const day = (succeeded: number, median: number) => ({
    ...NONE,
    date: "2026-11-20",
    succeeded,
    run_seconds: seconds(median),
  });
  const read = (each: ReturnType<typeof day>) => each.run_seconds.median;
  expect(typical([day(1, 10), day(1, 20)], read as never)).toBe(10);
  expect(typical([day(1, 10), day(2, 20)], read as never)).toBe(20);
  expect(typical([], read as never)).toBe(undefined);
});
