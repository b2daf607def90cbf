import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect } from "vitest";
import type { Reply } from "../support/client.ts";
import { CanonicalIds, canonicalState } from "../support/organization-state.ts";
import { FAULTS, type Fault } from "./fault-injector.ts";
import {
  type Fixture,
  OPERATIONS,
  type Operation,
  requestOf,
  TARGETS,
  VARIANTS,
} from "./repeated-operations.ts";
import { isSuccess, type Repeatable, RetryingClient, shownBy } from "./retries.ts";

/** More external calls than a request makes. */
export const MAXIMUM_POINT = 12;
export const ISOLATES = 3;

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
export const step: fc.Arbitrary<Step> = fc.oneof(
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
export const history: fc.Arbitrary<History> = fc.record({
  requests: fc.array(fc.record({ name: fc.constantFrom(...Object.keys(OPERATIONS)), ...place }), {
    minLength: 1,
    maxLength: 5,
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 7 }),
});

export function operationNamed(name: string): Operation {
  const operation = OPERATIONS[name];
  if (!operation) throw new Error(`There is no operation called ${name}`);
  return operation;
}

/** The keys whose requests had an effect, in its order. */
export async function recordedKeys({ world }: Fixture): Promise<string[]> {
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
export class Run {
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

export async function expectSameAsWithoutRepeats(run: Run): Promise<void> {
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

export function differenceBetween(before: Record<string, number>, after: Record<string, number>) {
  const added = Object.entries(after).map(([table, count]) => [
    table,
    count - Number(before[table]),
  ]);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}
