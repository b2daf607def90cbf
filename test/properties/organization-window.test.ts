import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrganizationWindow } from "../../src/rate-limits/organization-window.ts";
import { WINDOW_MS } from "../../src/rate-limits/policies.ts";
import {
  type Conditions,
  LimiterSimulation,
  RETRY_AFTER_MS,
  type SimulatedDecision,
} from "../support/limiter-simulation.ts";

const RUNS = env.EFFORT.windowHistories;
const MAX_LATENCY_MS = 100;
/** The log of all admissions rounds times up by at most this, and that of a consumer by the other. */
const LOG_STEP_MS = 50;
const CONSUMER_STEP_MS = 1_000;
const LOWEST_REFUSAL = 16 / 20;
const SHARE_OF_CONSUMER = 4 / 20;
/** With what its keys have prefetched, which the window may not refuse. */
const MOST_OF_ONE_CONSUMER = 18 / 20;
/** Prefetched tokens are at most 15 % of the limit. */
const LEAST_IN_FULL_WINDOW = 17 / 20;

const MODEL_LIMIT = 40;
const CALM: Conditions = {
  limit: 100,
  seed: 1,
  maxLatencyMs: 5,
  lossRate: 0,
  failureRate: 0,
  evictionRate: 0,
};

interface Flow {
  at: number;
  duration: number;
  requests: number;
  keys: number;
  consumers: number;
  isInterleaved: boolean;
}

/** Requests that start at `at` and are spread over `duration` and over `keys` keys of `consumers`. */
const flow: fc.Arbitrary<Flow> = fc.record({
  at: fc.constantFrom(0, 0, 100, 30_000, 59_950, 60_000, 60_000, 60_051, 90_000, 120_000),
  duration: fc.constantFrom(0, 0, 1, 1_000, 20_000, 60_000),
  requests: fc.integer({ min: 1, max: 900 }),
  keys: fc.constantFrom(1, 2, 7, 60, 1_000),
  consumers: fc.constantFrom(1, 1, 2, 5, 40),
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

function simulate(
  conditions: Conditions,
  flows: readonly Flow[],
  addOthers: (add: LimiterSimulation["request"]) => void = () => undefined,
): LimiterSimulation {
  const simulation = new LimiterSimulation(conditions);
  addOthers((...request) => simulation.request(...request));
  for (const { at, duration, requests, keys, consumers, isInterleaved } of flows) {
    for (let each = 0; each < requests; each += 1) {
      const key = isInterleaved ? each % keys : Math.floor((each * keys) / requests);
      const consumer = `consumer ${key % consumers}`;
      const time = at + Math.floor((each * duration) / requests);
      simulation.request(time, `${consumer}, key ${key}`, consumer);
    }
  }
  simulation.run();
  return simulation;
}

/** The largest number of admissions in any 60 s, of one consumer or of all. */
function mostInAnyWindow({ admissions }: LimiterSimulation, consumerId?: string): number {
  const times = admissions
    .filter((each) => (consumerId ?? each.consumerId) === each.consumerId)
    .map(({ at }) => at);
  let first = 0;
  let most = 0;
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - WINDOW_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

interface Refusal {
  /** Admissions to all, and to the refused consumer, in the 60 s before the refusal. */
  total: number;
  own: number;
}

/**
 * The refusals for the organization, without equal ones at the same time. Of a message and its
 * response, the first may be lost: a report and a refusal may both be that late.
 */
function refusalsOf(simulation: LimiterSimulation, conditions: Conditions): Refusal[] {
  const lateMs = 2 * conditions.maxLatencyMs + (conditions.lossRate > 0 ? RETRY_AFTER_MS : 0);
  const refusals = simulation.refusals.map(
    ({ at, consumerId }) => [`${at} ${consumerId}`, at] as const,
  );
  return [...new Map(refusals)].map(([name, at]) => ({
    total: simulation.admittedIn(at - WINDOW_MS - 2 * lateMs - LOG_STEP_MS, at),
    own: simulation.admittedIn(
      at - WINDOW_MS - 2 * lateMs - CONSUMER_STEP_MS,
      at,
      name.slice(name.indexOf(" ") + 1),
    ),
  }));
}

describe("an organization's window", () => {
  const flows = fc.array(flow, { minLength: 1, maxLength: 6 });

  it("admits at most its limit in any 60 seconds, and refuses nothing below 16/20 of it", () => {
    let refusals = 0;
    let refusalsOfFullWindow = 0;
    fc.assert(
      fc.property(conditions, flows, (each, load) => {
        const simulation = simulate(each, load);
        const limit = simulation.organizationLimit;
        expect(mostInAnyWindow(simulation)).toBeLessThanOrEqual(limit);
        for (const { total, own } of refusalsOf(simulation, each)) {
          const isFull = own < limit * SHARE_OF_CONSUMER;
          const least = isFull ? LEAST_IN_FULL_WINDOW : LOWEST_REFUSAL;
          expect(total).toBeGreaterThanOrEqual(limit * least);
          refusalsOfFullWindow += isFull ? 1 : 0;
          refusals += isFull ? 0 : 1;
        }
      }),
      { numRuns: RUNS },
    );
    expect(refusals).toBeGreaterThan(0);
    expect(refusalsOfFullWindow).toBeGreaterThan(0);
  });

  it("refuses no other consumer because of one, which is admitted 16/20 to 18/20 of the limit", () => {
    const others = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 180_000 }), consumer: fc.nat(4), key: fc.nat(2) }),
      { minLength: 10, maxLength: 10 },
    );
    let refusals = 0;
    fc.assert(
      fc.property(conditions, flows, others, (each, load, quiet) => {
        const floods = load.map((some) => ({ ...some, consumers: 1 }));
        const simulation = simulate(each, floods, (add) => {
          for (const { at, consumer, key } of quiet) {
            add(at, `quiet ${consumer}, key ${key}`, `quiet ${consumer}`);
          }
        });
        const { organizationLimit: limit } = simulation;
        const isBusy = ({ consumerId }: SimulatedDecision) => consumerId === "consumer 0";
        expect(simulation.refusals.every(isBusy)).toBe(true);
        expect(simulation.admissions.filter((one) => !isBusy(one))).toHaveLength(quiet.length);
        const most = mostInAnyWindow(simulation, "consumer 0");
        expect(most).toBeLessThanOrEqual(limit * MOST_OF_ONE_CONSUMER);
        for (const { total } of refusalsOf(simulation, each)) {
          expect(total).toBeGreaterThanOrEqual(limit * LOWEST_REFUSAL);
        }
        refusals += simulation.refusals.length;
      }),
      { numRuns: RUNS },
    );
    expect(refusals).toBeGreaterThan(0);
  });

  it("decides and waits like a list of all admissions", () => {
    const steps = fc.array(
      fc.record({
        seconds: fc.constantFrom(0, 0, 0, 1, 7, 30, 61),
        consumer: fc.nat(5),
        waiting: fc.constantFrom(1, 1, 3, 8, 20),
      }),
      { minLength: 1, maxLength: 60 },
    );
    let refusals = 0;
    fc.assert(
      fc.property(steps, (each) => {
        const window = new OrganizationWindow(MODEL_LIMIT);
        const model = new ListOfAdmissions();
        let now = 0;
        for (const [id, { seconds, consumer, waiting }] of each.entries()) {
          now += seconds * 1_000;
          const request = { id: String(id), waiting, prefetch: 0, reports: [] };
          const answer = window.grant({ ...request, consumerId: String(consumer) }, now);
          let admitted = 0;
          while (admitted < waiting && model.admit(consumer, now)) admitted += 1;
          const waitMs = admitted < waiting ? model.waitMs(consumer, now) : 0;
          expect(answer).toEqual({ admitted, prefetched: 0, waitMs });
          refusals += waiting - admitted;
        }
      }),
      { numRuns: 5 * RUNS },
    );
    expect(refusals).toBeGreaterThan(0);
  });

  it("exceeds its limit by a quarter of each key's limit at most while its object fails", () => {
    fc.assert(
      fc.property(conditions, flows, (each, load) => {
        const oneEach = load.map((some) => ({ ...some, consumers: 1 }));
        const simulation = simulate({ ...each, lossRate: 0.3, failureRate: 0.5 }, oneEach);
        const keys = Math.max(...load.map((some) => some.keys));
        const excess = keys * Math.ceil(each.limit / 4);
        expect(mostInAnyWindow(simulation)).toBeLessThanOrEqual(
          simulation.organizationLimit + excess,
        );
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    [1, 1, 700],
    [10, 1, 700],
    [20, 20, 700],
    // At most 16 times the limit of a key, with what is prefetched.
    [20, 1, 900],
  ])("delays none of %i warm keys of %i consumers at a moderate rate", (keys, consumers, min) => {
    const gaps = fc.integer({ min, max: 15_000 });
    fc.assert(
      fc.property(conditions, gaps, (each, gap) => {
        const quiet = { ...each, limit: 100, lossRate: 0, evictionRate: 0 };
        const simulation = new LimiterSimulation(quiet);
        for (let key = 0; key < keys; key += 1) {
          for (let at = key * 37; at < 4 * WINDOW_MS; at += gap) {
            simulation.request(at, key, String(key % consumers));
          }
        }
        simulation.run();
        expect(simulation.refusals).toEqual([]);
        expect(simulation.waitedAt.filter((at) => at > WINDOW_MS)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it("reserves no tokens for keys that are used once", () => {
    const simulation = simulate(
      CALM,
      [0, WINDOW_MS + 2 * CONSUMER_STEP_MS].map((at) => ({
        at,
        duration: 0,
        requests: 2_500,
        keys: 2_500,
        consumers: 40,
        isInterleaved: true,
      })),
    );
    expect(simulation.admissions).toHaveLength(4_000);
  });

  const stored = (window: OrganizationWindow) => JSON.parse(JSON.stringify(window.state));
  const tokenRequest = (id: string, waiting: number, consumerId: string, prefetch = 0) => ({
    id,
    waiting,
    prefetch,
    reports: [],
    consumerId,
  });

  it("continues after its state was stored and loaded", () => {
    const before = new OrganizationWindow(20);
    const whole = { admitted: 12, prefetched: 0, waitMs: 0 };
    expect(before.grant(tokenRequest("a", 12, "busy"), 1_000)).toEqual(whole);
    const after = new OrganizationWindow(20, stored(before));
    const rest = { admitted: 4, prefetched: 0, waitMs: WINDOW_MS - 1_000 };
    expect(after.grant(tokenRequest("b", 12, "busy"), 2_000)).toEqual(rest);
    const own = { admitted: 4, prefetched: 0, waitMs: WINDOW_MS - 1_000 };
    expect(after.grant(tokenRequest("c", 12, "quiet"), 2_000)).toEqual(own);
  });

  it("stores the consumers that have used a hundredth of the limit, and only while they have", () => {
    const window = new OrganizationWindow(2_000);
    const consumersOf = () => stored(window).consumers;
    window.grant(tokenRequest("a", 20, "busy"), 1_000);
    for (let each = 0; each < 500; each += 1) {
      window.grant(tokenRequest(`b${each}`, 1, `quiet ${each}`), 1_010);
    }
    expect(consumersOf()).toEqual([["busy", [[1_000, 20]]]]);
    window.grant(tokenRequest("c", 0, "other"), 1_000 + WINDOW_MS);
    expect(consumersOf()).toEqual([]);
  });

  it("lets one consumer prefetch at most a tenth, and nothing beyond what it would be admitted", () => {
    const window = new OrganizationWindow(2_000);
    const prefetch = (consumerId: string, id: string) =>
      window.grant(tokenRequest(id, 0, consumerId, 10), 1_000).prefetched;
    let prefetched = 0;
    for (let each = 0; each < 100; each += 1) prefetched += prefetch("busy", `a${each}`);
    expect(prefetched).toBeGreaterThan(190);
    expect(prefetched).toBeLessThanOrEqual(200);
    expect(prefetch("quiet", "b")).toBe(10);
    window.grant(tokenRequest("c", 1_399, "busy"), 1_000);
    expect(prefetch("busy", "d")).toBe(0);
    expect(prefetch("quiet", "e")).toBeGreaterThan(0);
    expect(window.grant(tokenRequest("f", 500, "busy"), 1_000).admitted).toBe(201);
  });

  it("gives a repeated request the same answer, and counts it once", () => {
    const window = new OrganizationWindow(2_000);
    const request = tokenRequest("a", 5, "someone", 10);
    const first = window.grant(request, 1_000);
    expect(first).toEqual({ admitted: 5, prefetched: 10, waitMs: 0 });
    expect(window.grant(request, 1_300)).toEqual(first);
    expect(window.state.log).toEqual([[1_000, 5]]);
    expect(window.state.reserved).toEqual([["a", 10, 81_000, "someone"]]);
  });

  it("gives a repeated request the same answer after 2,000 refusals, too", () => {
    const window = new OrganizationWindow(20);
    const first = window.grant(tokenRequest("a", 4, "someone"), 1_000);
    window.grant(tokenRequest("b", 20, "busy"), 1_000);
    for (let each = 0; each < 2_000; each += 1)
      window.grant(tokenRequest(`c${each}`, 1, "busy"), 1_000);
    expect(window.grant(tokenRequest("a", 4, "someone"), 1_000)).toEqual(first);
    expect(window.state.log).toEqual([[1_000, 16]]);
  });

  it("counts reported tokens from their use, for their consumer, and frees unused ones", () => {
    const window = new OrganizationWindow(100);
    window.grant(tokenRequest("a", 0, "someone", 1), 1_000);
    window.grant(tokenRequest("b", 0, "someone", 1), 1_000);
    const reports = [
      { grantId: "a", ages: [5_500], unused: 0 },
      { grantId: "b", ages: [], unused: 1 },
    ];
    window.grant({ ...tokenRequest("c", 0, "someone"), reports }, 10_000);
    expect(window.state).toEqual({
      log: [[4_500, 1]],
      reserved: [],
      consumers: [["someone", [[5_000, 1]]]],
    });
  });
});

/** The rule for admissions that are at full seconds, without prefetched tokens. */
class ListOfAdmissions {
  #admissions: { at: number; consumer: number }[] = [];

  admit(consumer: number, now: number): boolean {
    const isAdmitted = this.#isAdmitted(consumer, now);
    if (isAdmitted) this.#admissions.push({ at: now, consumer });
    return isAdmitted;
  }

  waitMs(consumer: number, now: number): number {
    let wait = 0;
    while (!this.#isAdmitted(consumer, now + wait)) wait += 1_000;
    return wait;
  }

  #isAdmitted(consumer: number, now: number): boolean {
    const recent = this.#admissions.filter(({ at }) => at > now - WINDOW_MS);
    if (recent.length >= MODEL_LIMIT) return false;
    if (recent.length < MODEL_LIMIT * LOWEST_REFUSAL) return true;
    const own = recent.filter((each) => each.consumer === consumer);
    return own.length < MODEL_LIMIT * SHARE_OF_CONSUMER;
  }
}
