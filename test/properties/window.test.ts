import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LimiterNamespace } from "../../src/rate-limits/limited-request.ts";
import { Limiter } from "../../src/rate-limits/limiter.ts";
import { POLICIES, WINDOW_MS } from "../../src/rate-limits/policies.ts";
import type { Consumption } from "../../src/rate-limits/rate-limiter.do.ts";
import { type AdmissionLog, admit } from "../../src/rate-limits/window.ts";

const RUNS = 200;
const LIMIT = 7;
const REQUEST = {
  id: "request",
  key: "key",
  organizationId: "org",
  consumerId: "membership",
  policy: "default",
  version: 0,
  exemptFromBudget: false,
} as const;

/** Gaps between requests, in milliseconds, for different load patterns. */
const SHAPES = {
  steady: fc.constantFrom(WINDOW_MS / LIMIT, WINDOW_MS / LIMIT - 1, WINDOW_MS / LIMIT + 1),
  burst: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1),
  flood: fc.integer({ min: 0, max: 20 }),
  sparse: fc.integer({ min: WINDOW_MS / 2, max: 3 * WINDOW_MS }),
  boundary: fc.constantFrom(0, 1, WINDOW_MS / 2 - 1, WINDOW_MS / 2, WINDOW_MS - 1, WINDOW_MS),
  random: fc.integer({ min: 0, max: WINDOW_MS }),
} as const;

const shapes = Object.entries(SHAPES).map(
  ([name, gap]) => [name, fc.array(gap, { minLength: 1, maxLength: 150 })] as const,
);

const timesOf = (gaps: readonly number[]) => {
  let now = 1_000_000;
  return gaps.map((gap) => {
    now += gap;
    return now;
  });
};

/** A reference implementation: counts the admissions of the last 60 seconds individually. */
class BruteForce {
  readonly admitted: number[] = [];

  admits(now: number): boolean {
    return this.admitted.filter((time) => now - time < WINDOW_MS).length < LIMIT;
  }

  take(now: number): boolean {
    const room = this.admits(now);
    if (room) this.admitted.push(now);
    return room;
  }
}

describe.each(shapes)("the window under %s load", (_, gaps) => {
  it("decides like the reference implementation", () => {
    fc.assert(
      fc.property(gaps, (each) => {
        const model = new BruteForce();
        let log: AdmissionLog = [];
        for (const now of timesOf(each)) {
          const decision = admit(log, LIMIT, now);
          expect(decision.admitted).toBe(model.take(now));
          log = decision.log;
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("admits at most the limit in any 60 seconds", () => {
    fc.assert(
      fc.property(gaps, (each) => {
        const admitted: number[] = [];
        let log: AdmissionLog = [];
        for (const now of timesOf(each)) {
          const decision = admit(log, LIMIT, now);
          if (decision.admitted) admitted.push(now);
          log = decision.log;
        }
        for (const start of admitted) {
          const within = admitted.filter((time) => time >= start && time < start + WINDOW_MS);
          expect(within.length).toBeLessThanOrEqual(LIMIT);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("returns the first second with a free request", () => {
    fc.assert(
      fc.property(gaps, (each) => {
        let log: AdmissionLog = [];
        for (const now of timesOf(each)) {
          const decision = admit(log, LIMIT, now);
          log = decision.log;
          const reset = Math.ceil(decision.waitMs / 1000);
          const roomAt = (time: number) => admit(log, LIMIT, time).remaining;
          if (decision.remaining > 0) continue;
          expect(admit(log, LIMIT, now + reset * 1000).admitted).toBe(true);
          expect(admit(log, LIMIT, now + (reset - 1) * 1000).admitted).toBe(false);
          expect(roomAt(now)).toBe(0);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("makes the same decisions with cached refusals in an isolate", async () => {
    await fc.assert(
      fc.asyncProperty(gaps, async (each) => {
        const model = new BruteForce();
        let now = 0;
        let asked = 0;
        let log: AdmissionLog = [];
        const consume = async (): Promise<Consumption> => {
          asked += 1;
          const decision = admit(log, LIMIT, now);
          log = decision.log;
          const { admitted, remaining, waitMs } = decision;
          return { admitted, by: "key", remaining, waitMs, version: 0, overBudgetMs: 0 };
        };
        const namespace = { getByName: () => ({ consume }) } as unknown as LimiterNamespace;
        const limiter = new Limiter({ now: () => now }, () => undefined);
        for (const time of timesOf(each)) {
          now = time;
          const cached = limiter.cachedRefusal(REQUEST);
          const result = await limiter.consume(namespace, REQUEST);
          expect(result.admitted).toBe(model.take(now));
          if (cached) expect(result).toEqual(cached);
        }
        expect(asked).toBeLessThanOrEqual(each.length);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the window", () => {
  it("stays ordered when the clock steps back", () => {
    const times = fc.array(fc.integer({ min: 0, max: 3 * WINDOW_MS }), { maxLength: 100 });
    fc.assert(
      fc.property(times, (each) => {
        let log: AdmissionLog = [];
        for (const now of each) {
          const decision = admit(log, LIMIT, now);
          log = decision.log;
          expect(log).toEqual(log.toSorted((a, b) => a - b));
          expect(log.length).toBeLessThanOrEqual(LIMIT);
          expect(decision.waitMs).toBeGreaterThan(0);
          expect(decision.waitMs).toBeLessThanOrEqual(WINDOW_MS);
        }
      }),
    );
  });

  it("starts with the full limit, and reports it", () => {
    const { limit } = POLICIES.default;
    expect(admit([], limit, 5)).toEqual({
      admitted: true,
      remaining: 99,
      waitMs: WINDOW_MS,
      log: [5],
    });
  });
});
