import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Reply } from "../support/client.ts";
import { CanonicalIds, canonicalState, countRows } from "../support/organization-state.ts";
import { seededRandom } from "../support/random.ts";
import { FAULTS, type Fault } from "./fault-injector.ts";
import {
  type Fixture,
  OPERATIONS,
  type Operation,
  TARGETS,
  VARIANTS,
} from "./repeated-operations.ts";
import { isSuccess, type Repeatable, RetryingClient, shownBy } from "./retries.ts";

const HISTORIES = Number(env.RETRY_HISTORIES);
/** More external calls than a request makes. */
const MAXIMUM_POINT = 12;
const ISOLATES = 3;
const AT_ONCE = 100;

interface Sending {
  isolate: number;
  fault: { at: number; kind: Fault } | null;
}

type Step =
  | { does: "send"; requests: { index: number; attempts: Sending[] }[] }
  | { does: "evict" }
  | { does: "replace" | "delete"; target: number; variant: number };

interface History {
  requests: { name: string; target: number; variant: number }[];
  steps: Step[];
}

const sending: fc.Arbitrary<Sending> = fc.record({
  isolate: fc.nat(ISOLATES - 1),
  fault: fc.option(
    fc.record({ at: fc.integer({ min: 1, max: MAXIMUM_POINT }), kind: fc.constantFrom(...FAULTS) }),
    { freq: 3 },
  ),
});
const place = { target: fc.nat(TARGETS - 1), variant: fc.nat(VARIANTS) };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("send" as const),
      requests: fc.array(
        fc.record({
          index: fc.nat(),
          attempts: fc.array(sending, { minLength: 1, maxLength: 3 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("evict" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom("replace", "delete"), ...place }),
  },
);
const history: fc.Arbitrary<History> = fc.record({
  requests: fc.array(fc.record({ name: fc.constantFrom(...Object.keys(OPERATIONS)), ...place }), {
    minLength: 1,
    maxLength: 5,
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 7 }),
});

function operationNamed(name: string): Operation {
  const operation = OPERATIONS[name];
  if (!operation) throw new Error(`There is no operation called ${name}`);
  return operation;
}

/** The keys whose requests had an effect, in its order. */
async function recordedKeys({ world }: Fixture): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "select key from idempotency_records where organization_id = ? order by rowid",
  )
    .bind(world.id)
    .all<{ key: string }>();
  return results.map(({ key }) => key);
}

/** A history with faults and repeats, and what its client learned. */
class Run {
  readonly client: RetryingClient;
  readonly requests: Repeatable[];
  /** The first success of each key. */
  readonly successes = new Map<string, Reply>();
  /** Writes without a key, with the number of effects before them. */
  readonly others: { after: number; step: Step }[] = [];

  constructor(client: RetryingClient, { requests }: History) {
    this.client = client;
    this.requests = requests.map(({ name, ...where }, at) => ({
      key: `key-${at}`,
      operation: operationNamed(name),
      ...where,
    }));
  }

  async take(step: Step): Promise<void> {
    if (step.does === "evict") return this.client.evict();
    if (step.does === "send") return this.#send(step.requests);
    const { length } = await recordedKeys(this.client.fixture);
    this.others.push({ after: length, step });
    await interfere(this.client, step);
  }

  /** Repeats every request until it has a response, and then once more. */
  async finish(): Promise<void> {
    for (const repeats of ["the last attempt", "one repeat"]) {
      for (const request of this.requests) {
        this.client.evict();
        const { reply } = await this.client.attempt(request);
        expect(reply, repeats).toBeDefined();
        await this.#learn(request, { reply, faults: 0, mayConflict: true });
      }
    }
  }

  async #send(groups: Extract<Step, { does: "send" }>["requests"]): Promise<void> {
    const chosen = new Map<string, { request: Repeatable; attempts: Sending[] }>();
    for (const { index, attempts } of groups) {
      const request = this.requests[index % this.requests.length];
      if (!request) continue;
      // An update without an effect could otherwise be recorded after one with an effect.
      const target = request.operation.path(this.client.fixture, request.target);
      if (!chosen.has(target)) chosen.set(target, { request, attempts });
    }
    const before = await recordedKeys(this.client.fixture);
    await Promise.all(
      [...chosen.values()].flatMap(({ request, attempts }) =>
        attempts.map(async ({ isolate, fault }) => {
          const { reply, injector } = await this.client.attempt(request, {
            isolate,
            choose: (point) => (point === fault?.at ? fault.kind : undefined),
          });
          const isAlone = chosen.size === 1;
          await this.#learn(request, {
            reply,
            faults: injector.injected,
            mayConflict: !isAlone && !before.includes(request.key),
          });
        }),
      ),
    );
  }

  async #learn(
    { key }: Repeatable,
    {
      reply,
      faults,
      mayConflict,
    }: { reply: Reply | undefined; faults: number; mayConflict: boolean },
  ): Promise<void> {
    if (!reply) return;
    if (isSuccess(reply)) {
      const first = this.successes.get(key);
      if (first) expect(shownBy(reply)).toBe(shownBy(first));
      else this.successes.set(key, reply);
    } else if (reply.status >= 500) {
      expect(faults, reply.text).toBeGreaterThan(0);
    } else {
      expect([404, 409]).toContain(reply.status);
      expect(this.successes.has(key), `${reply.text} after a success`).toBe(false);
      // Nobody else writes, so the request itself has not been carried out.
      if (!mayConflict) expect(await recordedKeys(this.client.fixture)).not.toContain(key);
    }
  }
}

/** A write without a key. */
async function interfere(client: RetryingClient, step: Step): Promise<void> {
  if (step.does !== "replace" && step.does !== "delete") return;
  const { environments } = client.fixture;
  const path = `/v1/environments/${environments[step.target]}`;
  const body = { name: `e${step.variant}`, configuration: { replaced: step.variant } };
  if (step.does === "delete") await client.request("DELETE", path);
  else await client.request("PUT", path, body);
}

/** The same effects in the same order, each request sent once. */
async function runWithoutRepeats(run: Run, order: readonly string[]): Promise<RetryingClient> {
  const client = await RetryingClient.create();
  const others = [...run.others];
  const idsOf = { run: new CanonicalIds(), once: new CanonicalIds() };
  for (const [done, key] of [...order, undefined].entries()) {
    while (others[0] && others[0].after <= done) {
      const [other] = others.splice(0, 1);
      if (other) await interfere(client, other.step);
    }
    const request = run.requests.find((each) => each.key === key);
    if (!request) continue;
    const { reply } = await client.attempt(request);
    if (!reply || !isSuccess(reply)) throw new Error(`${key} has no success: ${reply?.text}`);
    const shown = run.successes.get(request.key)?.text ?? "";
    if (!request.operation.hasSecrets) {
      expect(idsOf.once.replaceIn(reply.text)).toBe(idsOf.run.replaceIn(shown));
    }
  }
  return client;
}

async function expectSameAsWithoutRepeats(run: Run): Promise<void> {
  const { fixture, services } = run.client;
  const order = await recordedKeys(fixture);
  expect(order.toSorted()).toEqual([...run.successes.keys()].toSorted());
  const once = await runWithoutRepeats(run, order);
  const [state, expected] = [
    await canonicalState(fixture.world.id),
    await canonicalState(once.fixture.world.id),
  ];
  expect(state).toEqual(expected);
  const isPending = state.some((line) => line.startsWith("deliveries "));
  if (isPending) expect(services.enqueued.length).toBeGreaterThan(0);
}

// The rows of two organizations with the same history have the same times.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("requests with an Idempotency-Key", () => {
  it(`have the effects of ${HISTORIES} histories without their repeats, and one response each`, async () => {
    const property = fc.asyncProperty(history, async (each) => {
      const run = new Run(await RetryingClient.create(), each);
      for (const step of each.steps) await run.take(step);
      await run.finish();
      await expectSameAsWithoutRepeats(run);
    });
    await fc.assert(property, { numRuns: HISTORIES, seed: 16 });
  });

  it.each(Object.entries(OPERATIONS))(
    `have one effect when ${AT_ONCE} are sent at once: %s`,
    async (_, operation) => {
      const client = await RetryingClient.create();
      const newRequest = requestsOf(operation);
      const effect = await effectOf(client, newRequest);
      const request = newRequest();
      const before = await countRows(client.fixture.world.id);
      const random = seededRandom(16);
      const attempts = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) =>
          client.attempt(request, {
            isolate: at % ISOLATES,
            choose: (point) =>
              at % 3 === 0 && point === 1 + (at % MAXIMUM_POINT) ? random.pick(FAULTS) : undefined,
          }),
        ),
      );
      const replies = attempts.flatMap(({ reply }) => reply ?? []);
      const successes = replies.filter(isSuccess);
      expect(new Set(successes.map(shownBy)).size).toBe(1);
      expect(successes.length).toBeGreaterThanOrEqual((2 / 3) * AT_ONCE);
      const failures = replies.filter((reply) => !isSuccess(reply));
      expect(failures.filter(({ status }) => status !== 500)).toEqual([]);
      expect(attempts.filter(({ injector }) => injector.injected > 0).length).toBeGreaterThan(20);
      expect(differenceBetween(before, await countRows(client.fixture.world.id))).toEqual(effect);
    },
  );

  it.each(Object.entries(OPERATIONS))(
    "have one effect with a fault at any point and of any kind: %s",
    async (_, operation) => {
      const client = await RetryingClient.create();
      const { id } = client.fixture.world;
      const newRequest = requestsOf(operation);
      const effect = await effectOf(client, newRequest);
      let points = 0;
      for (const [kind, fault] of FAULTS.entries()) {
        for (let at = 1, isOver = false; !isOver; at += 1) {
          client.evict();
          const request = newRequest();
          const before = await countRows(id);
          const first = await client.attempt(request, {
            choose: (point) => (point === at ? fault : undefined),
          });
          isOver = first.injector.injected === 0;
          if (isOver) expect(at).toBeGreaterThan(5);
          const second = await client.attempt(request);
          client.evict();
          const third = await client.attempt(request);
          const successes = [first, second, third].flatMap(({ reply }) =>
            reply && isSuccess(reply) ? reply : [],
          );
          expect(successes.length).toBeGreaterThanOrEqual(2);
          expect(new Set(successes.map(shownBy)).size).toBe(1);
          const added = differenceBetween(before, await countRows(id));
          expect(added, `fault ${kind} at ${at}`).toEqual(effect);
          points += 1;
        }
      }
      expect(points).toBeGreaterThan(20);
    },
  );
});

/** Returns requests with keys and names that are not taken. */
function requestsOf(operation: Operation): () => Repeatable {
  let variant = VARIANTS;
  return () => {
    variant += 1;
    return { key: `new-${variant}`, operation, target: 1, variant };
  };
}

/** The number of rows of each table that a request adds, after the first of its kind. */
async function effectOf(client: RetryingClient, newRequest: () => Repeatable): Promise<object> {
  const { id } = client.fixture.world;
  await client.attempt(newRequest());
  const before = await countRows(id);
  const { reply } = await client.attempt(newRequest());
  if (!reply || !isSuccess(reply)) throw new Error(`The request failed: ${reply?.text}`);
  return differenceBetween(before, await countRows(id));
}

function differenceBetween(before: Record<string, number>, after: Record<string, number>) {
  const added = Object.entries(after).map(([table, count]) => [
    table,
    count - Number(before[table]),
  ]);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}
