import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { countWithin } from "../effort.ts";
import type { Reply } from "../support/client.ts";
import { countRows } from "../support/organization-state.ts";
import { seededRandom } from "../support/random.ts";
import { FAULTS } from "./fault-injector.ts";
import {
  differenceBetween,
  expectSameAsWithoutRepeats,
  history,
  ISOLATES,
  MAXIMUM_POINT,
  Run,
} from "./idempotent-histories.ts";
import {
  ALL_OPERATIONS,
  type NewSource,
  OPERATIONS_WITH_BODIES,
  type RequestSource,
  SIMPLE_SOURCES,
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
const AT_ONCE = env.EFFORT.repeatsAtOnce;
const PAIRS = 4;

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
