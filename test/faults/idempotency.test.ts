import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { countWithin } from "../effort.ts";
import type { Reply } from "../support/client.ts";
import { CanonicalIds, canonicalState, countRows } from "../support/organization-state.ts";
import { seededRandom } from "../support/random.ts";
import { FAULTS, type Fault } from "./fault-injector.ts";
import {
  ALL_OPERATIONS,
  type Fixture,
  type NewSource,
  OPERATIONS,
  OPERATIONS_WITH_BODIES,
  type Operation,
  type RequestSource,
  requestOf,
  SIMPLE_SOURCES,
  TARGETS,
  VARIANTS,
} from "./repeated-operations.ts";
import {
  type Attempt,
  type Choose,
  isSuccess,
  type Repeatable,
  RetryingClient,
  shownBy,
} from "./retries.ts";

const HISTORIES = env.EFFORT.retryHistories;
const STRIDE = env.EFFORT.faultStride;
/** More external calls than a request makes. */
const MAXIMUM_POINT = 12;
const ISOLATES = 3;
const AT_ONCE = env.EFFORT.repeatsAtOnce;
const PAIRS = 4;

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

/** A request of a history, for any fixture. */
interface PlannedRequest {
  key: string;
  operation: Operation;
  target: number;
  variant: number;
}

const toRepeatable = (fixture: Fixture, { key, operation, ...where }: PlannedRequest) => ({
  key,
  ...requestOf(operation, fixture, where),
});

/** A history with faults and repeats, and what its client learned. */
class Run {
  readonly client: RetryingClient;
  readonly requests: PlannedRequest[];
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
        const { reply } = await this.client.attempt(toRepeatable(this.client.fixture, request));
        expect(reply, repeats).toBeDefined();
        await this.#learn(request, { reply, faults: 0, mayConflict: true });
      }
    }
  }

  async #send(groups: Extract<Step, { does: "send" }>["requests"]): Promise<void> {
    const chosen = new Map<string, { request: Repeatable; attempts: Sending[] }>();
    for (const { index, attempts } of groups) {
      const planned = this.requests[index % this.requests.length];
      if (!planned) continue;
      const request = toRepeatable(this.client.fixture, planned);
      // An update without an effect could otherwise be recorded after one with an effect.
      if (!chosen.has(request.path)) chosen.set(request.path, { request, attempts });
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
    { key }: Pick<Repeatable, "key">,
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
    const { reply } = await client.attempt(toRepeatable(client.fixture, request));
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
  it(`have the effects of at least ${HISTORIES.least} histories without their repeats, and one response each`, async () => {
    const property = fc.asyncProperty(history, async (each) => {
      const run = new Run(await RetryingClient.create(), each);
      for (const step of each.steps) await run.take(step);
      await run.finish();
      await expectSameAsWithoutRepeats(run);
    });
    for (const round of countWithin({ least: 1, seconds: HISTORIES.seconds })) {
      await fc.assert(property, { numRuns: HISTORIES.least, seed: 16 + round });
    }
  });

  it.each(SIMPLE_SOURCES)(
    `have one effect when ${AT_ONCE} are sent at once: %s`,
    async (_, newSource) => {
      const sender = await Sender.create(newSource);
      const { client, effect } = sender;
      const request = await sender.next();
      const before = await sender.countRows();
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
      expect(attempts.filter(({ injector }) => injector.injected > 0).length).toBeGreaterThan(
        AT_ONCE / 5,
      );
      expect(differenceBetween(before, await sender.countRows())).toEqual(effect);
    },
  );

  it.each(OPERATIONS_WITH_BODIES)(
    "have one effect when two with different bodies are sent at once: %s",
    async (_, newSource) => {
      const sender = await Sender.create(newSource);
      for (let at = 0; at < PAIRS; at += 1) {
        // Isolates that have cached the API key, and isolates that have not.
        if (at % 2 === 0) sender.client.evict();
        const one = await sender.next();
        const other = { ...(await sender.next()), key: one.key };
        expect(other.path).toBe(one.path);
        expect(other.body).not.toEqual(one.body);
        const before = await sender.countRows();
        const both = [one, other].map((request, isolate) => ({ request, isolate }));
        if (at >= PAIRS / 2) both.reverse();
        const attempts = await Promise.all(
          both.map(async ({ request, isolate }) => {
            const { reply } = await sender.client.attempt(request, { isolate });
            return { request, isolate, reply };
          }),
        );
        const [winner, ...others] = attempts.filter(({ reply }) => reply && isSuccess(reply));
        const [loser] = attempts.filter(({ reply }) => reply && !isSuccess(reply));
        if (!winner?.reply || !loser?.reply || others.length > 0) {
          throw new Error(JSON.stringify(attempts.map(({ reply }) => reply?.text)));
        }
        expectReused(loser.reply);
        expect(differenceBetween(before, await sender.countRows())).toEqual(sender.effect);
        // Repeats in the other isolate get the same.
        for (const { request, isolate, reply } of [winner, loser]) {
          const repeat = await sender.client.attempt(request, { isolate: 1 - isolate });
          if (reply === loser.reply) expectReused(repeat.reply);
          else expect(repeat.reply && shownBy(repeat.reply)).toBe(shownBy(winner.reply));
        }
        expect(differenceBetween(before, await sender.countRows())).toEqual(sender.effect);
      }
    },
  );

  it.each(ALL_OPERATIONS)(
    "have one effect with a fault at any point and of any kind: %s",
    async (_, newSource) => {
      const sender = await Sender.create(newSource);
      const { client, effect } = sender;
      // Few faults separate a commit from what follows it, which the rows do not show.
      const stride = sender.isVerified ? 1 : STRIDE;
      const points = await sender.countPoints();
      expect(points).toBeGreaterThan(5);
      for (const [kind, fault] of FAULTS.entries()) {
        for (let at = 1 + (kind % stride); at <= points; at += stride) {
          client.evict();
          const request = await sender.next();
          const before = await sender.countRows();
          const first = await sender.attempt(request, (point) =>
            point === at ? fault : undefined,
          );
          expect(first.injector.injected).toBe(1);
          const second = await sender.attempt(request);
          client.evict();
          const third = await sender.attempt(request);
          const successes = [first, second, third].flatMap(({ reply }) =>
            reply && isSuccess(reply) ? reply : [],
          );
          expect(successes.length).toBeGreaterThanOrEqual(2);
          expect(new Set(successes.map(shownBy)).size).toBe(1);
          const added = differenceBetween(before, await sender.countRows());
          expect(added, `fault ${kind} at ${at}`).toEqual(effect);
        }
      }
    },
  );
});

function expectReused(reply: Reply | undefined): void {
  const message = expect.stringContaining("This key was used for another request.");
  const issues = [{ path: "Idempotency-Key", message }];
  expect(reply).toMatchObject({ status: 400, body: { code: "bad_input", cause: { issues } } });
}

/** Sends requests of one operation, with keys and names that are not taken. */
class Sender {
  readonly client: RetryingClient;
  /** The number of rows of each table that a request adds, after the first of its kind. */
  effect: object = {};
  readonly #source: RequestSource;
  #variant = VARIANTS;

  private constructor(client: RetryingClient, source: RequestSource) {
    this.client = client;
    this.#source = source;
  }

  static async create(newSource: NewSource): Promise<Sender> {
    const client = await RetryingClient.create();
    const sender = new Sender(client, await newSource(client.fixture));
    await sender.attempt(await sender.next());
    const request = await sender.next();
    const before = await sender.countRows();
    const { reply } = await sender.attempt(request);
    if (!reply || !isSuccess(reply)) throw new Error(`The request failed: ${reply?.text}`);
    sender.effect = differenceBetween(before, await sender.countRows());
    return sender;
  }

  get isVerified(): boolean {
    return this.#source.verify !== undefined;
  }

  async next(): Promise<Repeatable> {
    this.#variant += 1;
    return { key: `new-${this.#variant}`, ...(await this.#source.next(this.#variant)) };
  }

  /** Verifies a success, unless a fault may have kept its new key versions from the rate limiter. */
  async attempt(request: Repeatable, choose?: Choose): Promise<Attempt> {
    const attempt = await this.client.attempt(request, choose ? { choose } : {});
    const { reply, injector } = attempt;
    if (reply && isSuccess(reply) && injector.injected === 0) await this.#source.verify?.();
    return attempt;
  }

  /** The number of external calls of a request, in an isolate without a cache. */
  async countPoints(): Promise<number> {
    this.client.evict();
    const { injector } = await this.attempt(await this.next());
    return injector.points;
  }

  countRows(): Promise<Record<string, number>> {
    return countRows(this.client.fixture.world.id);
  }
}

function differenceBetween(before: Record<string, number>, after: Record<string, number>) {
  const added = Object.entries(after).map(([table, count]) => [
    table,
    count - Number(before[table]),
  ]);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}
