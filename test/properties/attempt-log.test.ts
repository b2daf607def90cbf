import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countWithin } from "../effort.ts";
import { Instrumented } from "../support/instruments.ts";
import { concatenate, cut, outputBytes } from "../support/log-bytes.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  passTime,
  WatchedLogs,
} from "../support/log-harness.ts";
import { expectBytes, expectLines, LogReaders, type SentChunk } from "../support/log-readers.ts";
import { Attempt } from "../support/runner.ts";
import { SharedKeys } from "../support/world.ts";

const HISTORIES = env.EFFORT.logHistories;
const OFFER_MS = 60_000;
/** Of one history: a follower that hangs is reported with the history. */
const TIMEOUT_MS = 300_000;
const LONG_LINE = new Uint8Array(150_000).fill(0x78);

const part = fc.double({ min: 0, max: 1, noNaN: true });

/** `object`: an isolate that believes that the zombie's attempt has started. */
const HELD = ["own", "other", "mixed", "object"] as const;

type Step =
  /** Sends a part of the chunk after the last reply, or of one before or after it. */
  | { kind: "send"; ahead: number; from: number; to: number; fault?: "before" | "after" }
  | { kind: "zombie"; holds: (typeof HELD)[number]; offset: number; bytes: Uint8Array }
  | { kind: "evict"; webSockets: "hibernate" | "close" }
  | { kind: "abort" };

const send = fc.record(
  {
    kind: fc.constant("send" as const),
    ahead: fc.constantFrom(0, 0, 0, 0, -1, -2, 1, 2),
    from: fc.constantFrom(0, 0, 0.3),
    to: fc.oneof(fc.constant(1), part),
    fault: fc.constantFrom("before" as const, "after" as const),
  },
  { requiredKeys: ["kind", "ahead", "from", "to"] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: send },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("zombie" as const),
      holds: fc.constantFrom(...HELD),
      offset: fc.nat(100),
      bytes: outputBytes(4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("evict" as const),
      webSockets: fc.constantFrom("hibernate" as const, "close" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort" as const) }) },
);

const history = fc.record({
  chunks: fc.array(
    fc.record({
      stack: fc.constantFrom(0 as const, 1 as const),
      bytes: fc.oneof(
        { weight: 15, arbitrary: outputBytes(10) },
        { weight: 1, arbitrary: fc.constant(LONG_LINE) },
      ),
    }),
    { maxLength: 12, size: "large" },
  ),
  steps: fc.array(step, { maxLength: 30, size: "large" }),
  /** Positions at which the rest is cut. */
  cuts: fc.array(part, { maxLength: 4 }),
  /** After so many of the steps, the runner completes the attempt and declares the whole log. */
  completesAfter: part,
  resumesAt: fc.array(part, { minLength: 2, maxLength: 3 }),
  disconnects: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 8 }),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** The lease holder, a zombie whose offer has lapsed, and the object between them. */
class LogHistory {
  readonly #logged: LoggedDeployment;
  readonly #logs: WatchedLogs;
  readonly #worker: Instrumented;
  readonly #zombie: Attempt;
  readonly #attempt: Attempt;
  readonly sent: SentChunk[];
  /** Of the last reply. */
  #nextOffset = 0;

  private constructor(
    logged: LoggedDeployment,
    { logs, worker }: { logs: WatchedLogs; worker: Instrumented },
    { zombie, attempt }: { zombie: Attempt; attempt: Attempt },
    chunks: History["chunks"],
  ) {
    this.#logged = logged;
    this.#logs = logs;
    this.#worker = worker;
    this.#zombie = zombie;
    this.#attempt = attempt;
    this.sent = chunks.map(({ stack, bytes }) => ({ stackId: logged.stackIds[stack], bytes }));
  }

  static async begin(chunks: History["chunks"]): Promise<LogHistory> {
    const logs = new WatchedLogs();
    const worker = new Instrumented({ logs: logs.namespace });
    const logged = await newLoggedDeployment(worker.fetch);
    const zombie = await Attempt.claim(logged.runner);
    passTime(OFFER_MS + 1);
    const attempt = await Attempt.started(logged.runner);
    expect(attempt.deploymentId).toBe(logged.deploymentId);
    return new LogHistory(logged, { logs, worker }, { zombie, attempt }, chunks);
  }

  get stackIds(): [string, string] {
    return this.#logged.stackIds;
  }

  readers(): LogReaders {
    const keys = new SharedKeys(this.#logged.world);
    return new LogReaders(() => keys.next(), this.#logged.deploymentId);
  }

  async take(each: Step): Promise<void> {
    const object = logObject(this.#logged.deploymentId);
    if (each.kind === "send") return this.#send(each);
    if (each.kind === "zombie") return this.#sendAsZombie(each);
    // Neither works on an object that does not run.
    await runInDurableObject(object, () => undefined);
    if (each.kind === "evict") return evictDurableObject(object, { webSockets: each.webSockets });
    const aborted = runInDurableObject(object, (_, state) => state.abort("a crash"));
    await aborted.catch(() => undefined);
  }

  /** As the protocol says: the bytes from `next_offset` on, each request with those of one chunk. */
  async finish(cuts: readonly number[]): Promise<void> {
    let offset = 0;
    for (const { stackId, bytes } of this.sent) {
      for (const piece of cut(bytes, cuts)) {
        const { status, body } = await this.#append(this.#attempt, {
          stackId,
          offset,
          body: piece,
        });
        // A log that has all declared bytes takes repeats.
        expect([status, body]).toEqual([200, { next_offset: expect.any(Number) }]);
        offset += piece.length;
        expect(body.next_offset).toBeGreaterThanOrEqual(offset);
      }
    }
    // Notifies the log again of the end of its attempt, in case it crashed at the first notification.
    await this.#worker.sweep();
  }

  async complete(): Promise<void> {
    const log = await declare(concatenate(this.sent.map(({ bytes }) => bytes)));
    const { status } = await this.#attempt.complete("failed", { log });
    expect(status).toBe(200);
  }

  async #send({ ahead, from, to, fault }: Step & { kind: "send" }): Promise<void> {
    const current = this.sent.findIndex((_, at) => this.#offsetOf(at + 1) > this.#nextOffset);
    const index = (current < 0 ? this.sent.length - 1 : current) + ahead;
    const { stackId, bytes } = this.sent[index] ?? {};
    if (!stackId || !bytes) return;
    const start = Math.floor(bytes.length * from);
    const input = bytes.subarray(start, Math.max(start, Math.ceil(bytes.length * to)));
    const offset = this.#offsetOf(index) + start;
    this.#logs.fault = (method) => (method === "append" ? fault : undefined);
    const { status, body } = await this.#append(this.#attempt, { stackId, offset, body: input });
    this.#logs.fault = () => undefined;
    expect(fault ? [408] : [200, 409]).toContain(status);
    this.#nextOffset = body.next_offset ?? body.cause?.next_offset ?? this.#nextOffset;
  }

  async #sendAsZombie({ holds, offset, bytes: body }: Step & { kind: "zombie" }): Promise<void> {
    const stackId = this.stackIds[1];
    const own = this.#zombie.claimed;
    const other = this.#attempt.claimed;
    if (holds === "object") {
      const { deploymentId, world } = this.#logged;
      const names = { deploymentId, attemptId: own.attempt_id, limitsOrganizationId: world.id };
      const request = { ...names, stackId, offset, bytes: body };
      expect(await logObject(deploymentId).append(request)).toEqual({ kind: "ended" });
      return;
    }
    const claimed = {
      own,
      other: { attempt_id: other.attempt_id, lease_token: own.lease_token },
      mixed: { attempt_id: own.attempt_id, lease_token: other.lease_token },
    }[holds];
    const as = new Attempt(this.#logged.runner, claimed);
    const { status } = await this.#append(as, { stackId, offset, body });
    expect(status).toBe(409);
  }

  #append(as: Attempt, input: Parameters<typeof append>[2]) {
    return append(this.#logged, as, input);
  }

  #offsetOf(index: number): number {
    return this.sent.slice(0, index).reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

describe("the log of an attempt", () => {
  it("has exactly the bytes that the lease holder sent, for every reader, whatever happens", async () => {
    const property = fc.asyncProperty(history, async (input) => {
      const log = await LogHistory.begin(input.chunks);
      const [first] = log.stackIds;
      const readers = log.readers();
      const following = Promise.all([
        readers.follow(input.disconnects),
        readers.follow(input.disconnects.toReversed(), first),
      ]);
      following.catch(() => undefined);
      const completesAfter = Math.floor(input.completesAfter * input.steps.length);
      for (const step of input.steps.slice(0, completesAfter)) await log.take(step);
      await log.complete();
      for (const step of input.steps.slice(completesAfter)) await log.take(step);
      await log.finish(input.cuts);
      await expectReaders(log, input.resumesAt);
      const [all, some] = await following;
      expectLines(all.lines, log.sent);
      expectLines(some.lines, log.sent, 0, first);
      expect(all.end).toEqual({ status: "failed", truncated: false });
      expect(some.end).toEqual({ status: "failed", truncated: false });
    });
    for (const _ of countWithin({ least: 1, seconds: HISTORIES.seconds })) {
      await fc.assert(property, {
        numRuns: HISTORIES.least,
        timeout: TIMEOUT_MS,
        endOnFailure: true,
      });
    }
  });
});

async function expectReaders(log: LogHistory, resumesAt: readonly number[]): Promise<void> {
  const readers = log.readers();
  const { length } = concatenate(log.sent.map(({ bytes }) => bytes));
  for (const stackId of [undefined, ...log.stackIds]) {
    for (const after of [0, ...resumesAt.map((at) => Math.floor(at * length)), length]) {
      expectBytes(await readers.bytes(after, stackId), log.sent, after, stackId);
      expectLines(await readers.lines(after, stackId), log.sent, after, stackId);
    }
    const { lines } = await readers.follow([1, 2, 1], stackId);
    expectLines(lines, log.sent, 0, stackId);
  }
}
