import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HostWindow } from "../../src/features/notifications/delivery/host-window.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { seededRandom } from "../support/random.ts";

const REQUESTS = 5;
const SECOND = 1_000;
const HOUR = 3_600_000;
const START = 1_800_000_000_000;
/** A message of the queue is late by at most this, in whole seconds. */
const MOST_LATE_MS = 2 * SECOND;

interface Admitted {
  organization: string;
  at: number;
}

interface Flow {
  organization: string;
  at: number;
  requests: number;
  /** Asks again after this time, whatever it is told. */
  everyMs?: number;
}

/** Each request asks again when it is told to, or a moment later. Returns those that were admitted. */
function simulate(flows: readonly Flow[], durationMs: number, seed = 1, window = new HostWindow()) {
  const random = seededRandom(seed);
  const asks = flows.flatMap(({ requests, ...each }) =>
    Array.from({ length: requests }, () => ({ ...each })),
  );
  const admitted: Admitted[] = [];
  let count = 0;
  while (asks.length > 0) {
    const next = asks.reduce((first, each) => (each.at < first.at ? each : first));
    if (next.at > START + durationMs) break;
    count += 1;
    const { waitMs } = window.ask(next.organization, next.at);
    if (waitMs > 0) next.at += next.everyMs ?? waitMs + random.below(MOST_LATE_MS);
    else admitted.push(...asks.splice(asks.indexOf(next), 1));
  }
  return { admitted, asked: count };
}

function mostInOneSecond(admitted: readonly Admitted[]): number {
  const times = admitted.map(({ at }) => at);
  return Math.max(
    0,
    ...times.map((end) => times.filter((at) => at > end - SECOND && at <= end).length),
  );
}

const flow = fc.record({
  organization: fc.integer({ min: 0, max: 11 }).map((at) => `organization ${at}`),
  at: fc.integer({ min: START, max: START + 20 * SECOND }),
  requests: fc.integer({ min: 1, max: 60 }),
});

describe("a host without a 2xx", () => {
  it("gets at most five requests in any second, whoever asks", () => {
    fc.assert(
      fc.property(fc.array(flow, { minLength: 1, maxLength: 15 }), fc.nat(), (flows, seed) => {
        const { admitted } = simulate(flows, 60 * SECOND, seed);
        expect(admitted.length).toBeGreaterThan(0);
        expect(mostInOneSecond(admitted)).toBeLessThanOrEqual(REQUESTS);
      }),
      { numRuns: 60 },
    );
  });

  it("gets five at once, and the sixth a second after the first", () => {
    const window = new HostWindow();
    const ask = (afterMs: number) => window.ask("one", START + afterMs).waitMs;
    expect([0, 1, 2, 3, 4].map(ask)).toEqual([0, 0, 0, 0, 0]);
    expect(ask(5)).toBe(995);
    expect(ask(999)).toBeGreaterThan(0);
    expect(ask(1_000)).toBe(0);
    expect(ask(1_000)).toBeGreaterThan(0);
    expect(ask(1_001)).toBe(0);
  });

  it("gets all that one organization has, soon after it may, and is asked little more often", () => {
    const requests = 300;
    const { admitted, asked } = simulate([{ organization: "one", at: START, requests }], HOUR);
    expect(admitted).toHaveLength(requests);
    const last = Math.max(...admitted.map(({ at }) => at));
    expect(last - START).toBeGreaterThanOrEqual((requests / REQUESTS - 1) * SECOND);
    expect(last - START).toBeLessThanOrEqual(2 * (requests / REQUESTS) * SECOND);
    expect(asked).toBeLessThanOrEqual(10 * requests);
  });

  it("gets the request of an organization within its turn, however many others wait", () => {
    const others = fc.integer({ min: 1, max: 40 });
    const frequency = fc.constantFrom({}, { everyMs: 500 });
    const after = fc.integer({ min: 0, max: 30_000 });
    fc.assert(
      fc.property(others, frequency, after, fc.nat(), (count, often, afterMs, seed) => {
        const flood = Array.from({ length: count }, (_, at) => ({
          ...{ organization: `flood ${at}`, at: START, ...often },
          requests: "everyMs" in often ? 200 / count : 1_000 / count,
        }));
        const one = { organization: "one", at: START + afterMs, requests: 1 };
        const { admitted } = simulate([...flood, one], afterMs + 30 * SECOND, seed);
        const found = admitted.find(({ organization }) => organization === "one");
        const turnMs = ((count + 1) / REQUESTS) * SECOND;
        expect((found?.at ?? Number.POSITIVE_INFINITY) - one.at).toBeLessThanOrEqual(
          turnMs + 3 * SECOND + MOST_LATE_MS,
        );
      }),
      { numRuns: 100 },
    );
  });

  it("gets as many of an organization that has little as of one that has much", () => {
    for (const count of [2, 3, 7]) {
      const flows = Array.from({ length: count }, (_, at) => ({
        organization: String(at),
        at: START,
        requests: at === 0 ? 1_000 : 100,
      }));
      const { admitted } = simulate(flows, 60 * SECOND);
      const counts = flows.map(
        ({ organization }) => admitted.filter((each) => each.organization === organization).length,
      );
      expect(Math.max(...counts)).toBeLessThanOrEqual(2 * Math.min(...counts));
      expect(Math.min(...counts)).toBeGreaterThan(0);
    }
  });

  it("is asked once a minute at least for each request, and forgets those that do not ask", () => {
    const window = new HostWindow();
    const waits = Array.from({ length: 1_000 }, () => window.ask("one", START).waitMs);
    expect(Math.max(...waits)).toBe(60 * SECOND);
    // Beside another one, an organization waits for its turn; 10 s after the last wait, it is alone.
    window.ask("two", START + 71 * SECOND);
    expect(window.ask("two", START + 71 * SECOND).waitMs).toBe(0);
    expect(window.ask("one", START + 71 * SECOND).waitMs).toBe(0);
    expect(window.ask("one", START + 71 * SECOND).waitMs).toBeGreaterThan(0);
  });

  it("keeps its order if the clock steps back", () => {
    const window = new HostWindow();
    for (const at of [0, 1, 2, 3, 4]) window.ask("one", START + at);
    expect(window.ask("one", START - HOUR).waitMs).toBe(996);
  });
});

describe("a host with a 2xx", () => {
  it("is not limited for an hour, to the millisecond", () => {
    const window = new HostWindow(START);
    const decisions = (at: number) => Array.from({ length: 20 }, () => window.ask("one", at));
    expect(LIMITS.hostSuccessMs.value).toBe(HOUR);
    for (const { waitMs, goodForMs } of decisions(START + HOUR - 1)) {
      expect([waitMs, goodForMs]).toEqual([0, 1]);
    }
    const admitted = decisions(START + HOUR).filter(({ waitMs }) => waitMs === 0);
    expect(admitted).toHaveLength(REQUESTS);
    window.succeed(START + HOUR);
    expect(window.ask("one", START + HOUR)).toEqual({ waitMs: 0, goodForMs: HOUR });
    window.succeed(START);
    expect(window.goodForMs(START + HOUR)).toBe(HOUR);
  });
});
