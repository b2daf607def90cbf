import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrganizationWindow } from "../../src/rate-limits/organization-window.ts";
import { WINDOW_MS } from "../../src/rate-limits/policies.ts";
import { type Conditions, LimiterSimulation } from "../support/limiter-simulation.ts";

const RUNS = 60;
const MAX_LATENCY_MS = 100;
/** Tolerance: reports reach the organization's object late, and its log rounds times up. */
const TOLERANCE_MS = 50 + MAX_LATENCY_MS;
const LOWEST_REFUSAL = 16 / 20;

interface Flow {
  at: number;
  duration: number;
  requests: number;
  keys: number;
  isInterleaved: boolean;
}

/** Requests that start at `at` and are spread over `duration` and over `keys` keys. */
const flow: fc.Arbitrary<Flow> = fc.record({
  at: fc.constantFrom(0, 0, 100, 30_000, 59_950, 60_000, 60_000, 60_051, 90_000, 120_000),
  duration: fc.constantFrom(0, 0, 1, 1_000, 20_000, 60_000),
  requests: fc.integer({ min: 1, max: 900 }),
  keys: fc.constantFrom(1, 2, 7, 60, 1_000),
  isInterleaved: fc.boolean(),
});

const conditions: fc.Arbitrary<Conditions> = fc.record({
  limit: fc.constantFrom(10, 20, 30),
  seed: fc.nat(),
  maxLatencyMs: fc.constantFrom(0, 5, MAX_LATENCY_MS),
  lossRate: fc.constantFrom(0, 0, 0.2),
  failureRate: fc.constant(0),
  evictionRate: fc.constantFrom(0, 0, 0.01, 0.3),
});

function simulate(conditions: Conditions, flows: readonly Flow[]): LimiterSimulation {
  const simulation = new LimiterSimulation(conditions);
  for (const { at, duration, requests, keys, isInterleaved } of flows) {
    for (let each = 0; each < requests; each += 1) {
      const key = isInterleaved ? each % keys : Math.floor((each * keys) / requests);
      simulation.request(at + Math.floor((each * duration) / requests), key);
    }
  }
  simulation.run();
  return simulation;
}

/** The largest number of admissions in any 60 s. */
function mostInAnyWindow({ admittedAt }: LimiterSimulation): number {
  let first = 0;
  let most = 0;
  for (const [last, at] of admittedAt.entries()) {
    while ((admittedAt[first] ?? at) <= at - WINDOW_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** The smallest number of admissions in the 60 s before a refusal for the organization. */
function fewestBeforeRefusal(simulation: LimiterSimulation): number {
  const counts = [...new Set(simulation.refusedAt)].map((at) =>
    simulation.admittedIn(at - WINDOW_MS - TOLERANCE_MS, at),
  );
  return Math.min(...counts);
}

describe("an organization's window", () => {
  const flows = fc.array(flow, { minLength: 1, maxLength: 6 });

  it("admits at most its limit in any 60 seconds, and refuses nothing below 16/20 of it", () => {
    let refusals = 0;
    fc.assert(
      fc.property(conditions, flows, (each, load) => {
        const simulation = simulate(each, load);
        const limit = simulation.organizationLimit;
        expect(mostInAnyWindow(simulation)).toBeLessThanOrEqual(limit);
        expect(fewestBeforeRefusal(simulation)).toBeGreaterThanOrEqual(limit * LOWEST_REFUSAL);
        refusals += simulation.refusedAt.length;
      }),
      { numRuns: RUNS },
    );
    expect(refusals).toBeGreaterThan(0);
  });

  it("exceeds its limit by a quarter of each key's limit at most while its object fails", () => {
    fc.assert(
      fc.property(conditions, flows, (each, load) => {
        const simulation = simulate({ ...each, lossRate: 0.3, failureRate: 0.5 }, load);
        const keys = Math.max(...load.map((some) => some.keys));
        const excess = keys * Math.ceil(each.limit / 4);
        expect(mostInAnyWindow(simulation)).toBeLessThanOrEqual(
          simulation.organizationLimit + excess,
        );
      }),
      { numRuns: RUNS },
    );
  });

  it.each([1, 10, 20])("delays none of %i warm keys at a moderate rate", (keys) => {
    const gaps = fc.integer({ min: 700, max: 15_000 });
    fc.assert(
      fc.property(conditions, gaps, (each, gap) => {
        const quiet = { ...each, limit: 100, lossRate: 0, evictionRate: 0 };
        const simulation = new LimiterSimulation(quiet);
        for (let key = 0; key < keys; key += 1) {
          for (let at = key * 37; at < 4 * WINDOW_MS; at += gap) simulation.request(at, key);
        }
        simulation.run();
        expect(simulation.refusedAt).toEqual([]);
        expect(simulation.waitedAt.filter((at) => at > WINDOW_MS)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it("reserves no tokens for keys that are used once", () => {
    const simulation = simulate(
      { limit: 100, seed: 1, maxLatencyMs: 5, lossRate: 0, failureRate: 0, evictionRate: 0 },
      [0, WINDOW_MS + TOLERANCE_MS].map((at) => ({
        at,
        duration: 0,
        requests: 2_500,
        keys: 2_500,
        isInterleaved: true,
      })),
    );
    expect(simulation.admittedAt).toHaveLength(4_000);
  });

  it("continues after its state was stored and loaded", () => {
    const before = new OrganizationWindow(20);
    const request = { id: "a", waiting: 12, prefetch: 3, reports: [] };
    expect(before.lease(request, 1_000)).toEqual({ admitted: 12, prefetched: 0, waitMs: 0 });
    const state = JSON.parse(JSON.stringify(before.state));
    const after = new OrganizationWindow(20, state);
    const answer = after.lease({ ...request, id: "b" }, 2_000);
    expect(answer).toEqual({ admitted: 8, prefetched: 0, waitMs: WINDOW_MS - 1_000 });
  });

  it("gives a repeated request the same answer, and counts it once", () => {
    const window = new OrganizationWindow(2_000);
    const request = { id: "a", waiting: 5, prefetch: 10, reports: [] };
    const first = window.lease(request, 1_000);
    expect(first).toEqual({ admitted: 5, prefetched: 10, waitMs: 0 });
    expect(window.lease(request, 1_300)).toEqual(first);
    expect(window.state.log).toEqual([[1_000, 5]]);
    expect(window.state.reserved).toEqual([["a", 10, 81_000]]);
  });

  it("counts reported tokens from their use, and frees unused ones", () => {
    const window = new OrganizationWindow(2_000);
    window.lease({ id: "a", waiting: 0, prefetch: 10, reports: [] }, 1_000);
    const reports = [{ grantId: "a", ages: [5_000, 4_000], unused: 3 }];
    window.lease({ id: "b", waiting: 0, prefetch: 0, reports }, 10_000);
    expect(window.state).toEqual({
      log: [
        [5_000, 1],
        [6_000, 1],
      ],
      reserved: [["a", 5, 81_000]],
    });
  });
});
