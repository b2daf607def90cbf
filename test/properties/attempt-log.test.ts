import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Parsed } from "../support/client.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  readEvents,
} from "../support/log-harness.ts";
import { Attempt } from "../support/runner.ts";

const HISTORIES = Number(env.LOG_HISTORIES);
const encoder = new TextEncoder();

/** What a command prints at once: characters that are cut, bytes that are not UTF-8, and long lines. */
const printed = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom("line\n", "\n", "no break", "é", "€uro\r\n", "😀") },
      { weight: 1, arbitrary: fc.constant(`${"x".repeat(70_000)}€\n`) },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((texts) => encoder.encode(texts.join("")));
const invalid = fc.constantFrom([0xff], [0xe2], [0x82], [0xe2, 0x82], [0xc3, 0x0a], [0xf0, 0x9f]);
const bytes = fc.oneof(
  { weight: 4, arbitrary: printed },
  { weight: 1, arbitrary: invalid.map((each) => new Uint8Array(each)) },
);
const stack = fc.constantFrom(0 as const, 1 as const);

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("print" as const), stack, bytes }) },
  // Sends earlier bytes again, from a random place, as after a lost response.
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("repeat" as const),
      from: fc.nat(),
      length: fc.nat(500),
    }),
  },
  // Sends a part of what follows, as if the connection broke off.
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("truncate" as const), stack, bytes, cut: fc.nat() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("reorder" as const),
      by: fc.integer({ min: 1, max: 50 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("zombie" as const),
      offset: fc.nat(2_000),
      ahead: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "evict" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      from: fc.nat(),
      stack: fc.option(stack),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Segment {
  stackId: string;
  bytes: Uint8Array;
}

/** A runner that holds the lease, one whose offer has lapsed, and what the former has printed. */
class History {
  readonly #logged: LoggedDeployment;
  readonly #holder: Attempt;
  readonly #zombie: Attempt;
  readonly #segments: Segment[] = [];

  private constructor(logged: LoggedDeployment, holder: Attempt, zombie: Attempt) {
    this.#logged = logged;
    this.#holder = holder;
    this.#zombie = zombie;
  }

  static async create(): Promise<History> {
    const logged = await newLoggedDeployment();
    const zombie = await Attempt.claim(logged.runner);
    await env.DB.prepare("update attempts set offered_until = 0 where id = ?")
      .bind(zombie.claimed.attempt_id)
      .run();
    return new History(logged, await Attempt.started(logged.runner), zombie);
  }

  /** Everything that the holder has printed, or only what one stack has. */
  printed(stackId?: string): Uint8Array {
    const chosen = this.#segments.filter(
      (each) => stackId === undefined || each.stackId === stackId,
    );
    return concat(chosen.map((each) => each.bytes));
  }

  async run(each: Step): Promise<void> {
    const { length } = this.printed();
    if (each.kind === "print") await this.#print(each.stack, each.bytes);
    else if (each.kind === "truncate") {
      const cut = each.cut % (each.bytes.length + 1);
      if (cut > 0) await this.#print(each.stack, each.bytes.slice(0, cut));
    } else if (each.kind === "repeat") {
      const from = each.from % (length + 1);
      const again = this.printed().slice(from, from + each.length);
      await this.#send(this.#logged.stackIds[0], from, again, length);
    } else if (each.kind === "reorder") {
      const reply = await this.#append(this.#holder, length + each.by, encoder.encode("later"));
      expect([reply.status, reply.body.cause]).toEqual([409, { next_offset: length }]);
    } else if (each.kind === "zombie") {
      const offset = each.ahead ? length : each.offset;
      expect((await this.#append(this.#zombie, offset, encoder.encode("zombie"))).status).toBe(409);
      expect((await this.#appendWithOtherToken(offset)).status).toBe(409);
    } else if (each.kind === "evict") {
      // An object that is not loaded cannot be evicted.
      await evictDurableObject(logObject(this.#logged.deploymentId)).catch(() => undefined);
    } else await this.verify(each.from, each.stack === null ? undefined : each.stack);
  }

  /** Every reader that starts at `from` sees exactly what was printed from there on. */
  async verify(from: number, stack?: 0 | 1): Promise<void> {
    const all = this.printed();
    const after = from % (all.length + 1);
    const stackId = stack === undefined ? undefined : this.#logged.stackIds[stack];
    const query = stackId === undefined ? "" : `&stack_id=${stackId}`;
    const expected = this.#expected(after, stackId);
    const path = `/v1/deployments/${this.#logged.deploymentId}/logs`;
    const { client } = this.#logged.world;
    const response = await client.raw("GET", `${path}?after=${after}${query}`, {
      accept: "text/plain",
    });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(concat(expected));
    let text = "";
    for (let next: number | undefined = after; next !== undefined; ) {
      const { body } = await client.get(`${path}?after=${next}${query}`);
      text += body.data.map((line: Parsed) => line.text).join("");
      next = body.has_more ? body.next_offset : undefined;
    }
    expect(isPrefixOfText(text, expected)).toBe(true);
  }

  async complete(): Promise<void> {
    await this.#holder.complete("failed", { log: await declare(this.printed()) });
    const { client } = this.#logged.world;
    // The log is told in the background.
    await vi.waitFor(async () => {
      const { body } = await client.get(`/v1/deployments/${this.#logged.deploymentId}/logs`);
      expect(body).toMatchObject({ status: "sealed", truncated: false });
    }, 20_000);
  }

  /** Follows the whole log, disconnected after every few events. */
  async follow(eventsPerConnection: number): Promise<string> {
    const { client } = this.#logged.world;
    const path = `/v1/deployments/${this.#logged.deploymentId}/logs`;
    let text = "";
    for (let id = "0"; ; ) {
      const headers = { accept: "text/event-stream", "last-event-id": id };
      const response = await client.raw("GET", path, headers);
      expect(response.status).toBe(200);
      let events = 0;
      for await (const each of readEvents(response.body as ReadableStream<Uint8Array>)) {
        if (each.event === "end") return text;
        if (each.event !== "message") continue;
        text += JSON.parse(each.data).text;
        id = String(each.id);
        events += 1;
        if (events === eventsPerConnection) break;
      }
    }
  }

  get text(): string {
    return textOf(this.#expected(0, undefined));
  }

  async #print(stack: 0 | 1, added: Uint8Array): Promise<void> {
    const { length } = this.printed();
    const stackId = this.#logged.stackIds[stack];
    this.#segments.push({ stackId, bytes: added });
    await this.#send(stackId, length, added, length + added.length);
  }

  async #send(stackId: string, offset: number, body: Uint8Array, nextOffset: number) {
    const reply = await append(this.#logged, this.#holder, { stackId, offset, body });
    expect([reply.status, reply.body]).toEqual([200, { next_offset: nextOffset }]);
  }

  #append(attempt: Attempt, offset: number, body: Uint8Array) {
    return append(this.#logged, attempt, { stackId: this.#logged.stackIds[0], offset, body });
  }

  #appendWithOtherToken(offset: number) {
    const chunk = { stackId: this.#logged.stackIds[0], offset, body: "zombie" };
    const token = { "lease-token": String(this.#zombie.claimed.lease_token) };
    return append(this.#logged, this.#holder, chunk, token);
  }

  /** What is left of each segment from an offset on; neighbors of one stack are one. */
  #expected(after: number, stackId: string | undefined): Uint8Array[] {
    let offset = 0;
    const joined: Segment[] = [];
    for (const segment of this.#segments) {
      const rest = segment.bytes.slice(Math.max(0, after - offset));
      offset += segment.bytes.length;
      const last = joined.at(-1);
      if (last?.stackId === segment.stackId) last.bytes = concat([last.bytes, rest]);
      else joined.push({ stackId: segment.stackId, bytes: rest });
    }
    return joined
      .filter((each) => stackId === undefined || each.stackId === stackId)
      .map((each) => each.bytes);
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A character does not continue in another stack. */
function textOf(parts: readonly Uint8Array[]): string {
  return parts
    .map((part) => new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(part))
    .join("");
}

/** A live log lacks at most the beginning of a character at its end. */
function isPrefixOfText(text: string, parts: readonly Uint8Array[]): boolean {
  const whole = textOf(parts);
  return text === whole || (whole.startsWith(text) && whole.slice(text.length) === "\ufffd");
}

describe("a log", () => {
  it("has exactly the bytes that the holder of the lease has sent, for every reader", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, eventsPerConnection) => {
          const history = await History.create();
          for (const each of steps) await history.run(each);
          await history.verify(0);
          await history.complete();
          await history.verify(7);
          await history.verify(0, 1);
          expect(await history.follow(eventsPerConnection)).toBe(history.text);
        },
      ),
      { numRuns: HISTORIES },
    );
  });
});
