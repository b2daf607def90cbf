import { expect } from "vitest";
import type { Client } from "./client.ts";
import { concatenate, decode } from "./log-bytes.ts";
import { readEvents } from "./log-harness.ts";

export interface SentChunk {
  stackId: string;
  bytes: Uint8Array;
}

/** Reads the log of a deployment in every form, and compares it with what was sent. */
export class LogReaders {
  readonly #client: () => Promise<Client>;
  readonly #path: string;

  constructor(client: () => Promise<Client>, deploymentId: string) {
    this.#client = client;
    this.#path = `/v1/deployments/${deploymentId}/logs`;
  }

  async bytes(after: number, stackId?: string): Promise<Uint8Array> {
    const client = await this.#client();
    const response = await client.raw("GET", this.#url(after, stackId), { accept: "text/plain" });
    expect(response.status).toBe(200);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** All pages from an offset on. */
  async lines(after: number, stackId?: string): Promise<ReadLine[]> {
    const lines: ReadLine[] = [];
    for (let next = after, hasMore = true; hasMore; ) {
      const client = await this.#client();
      const { body } = await client.get(this.#url(next, stackId));
      lines.push(...body.data);
      ({ next_offset: next, has_more: hasMore } = body);
    }
    return lines;
  }

  /**
   * Follows the log to its end. Disconnects after each of these numbers of events, and continues with
   * the ID of the last one.
   */
  async follow(disconnects: readonly number[], stackId?: string): Promise<FollowedEvents> {
    const followed: FollowedEvents = { lines: [], statuses: [] };
    let lastId: string | undefined;
    for (const count of [
      ...disconnects,
      ...Array(MAXIMUM_STREAMS).fill(Number.POSITIVE_INFINITY),
    ]) {
      const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
      const client = await this.#client();
      const response = await client.raw("GET", this.#url(0, stackId), headers);
      expect([200, 408]).toContain(response.status);
      // The object crashed while it opened the stream: a client retries.
      if (response.status === 408) continue;
      let received = 0;
      try {
        for await (const { event, id, data } of readEvents(response.body ?? new ReadableStream())) {
          received += 1;
          if (event === "end") return { ...followed, end: JSON.parse(data) };
          if (event === "status") followed.statuses.push(data);
          else followed.lines.push({ ...JSON.parse(data), id: Number(id) });
          lastId = event === "message" ? id : lastId;
          if (received >= count) break;
        }
      } catch (error) {
        // The response broke off.
        expect(error).toBeInstanceOf(Error);
      }
    }
    throw new Error("The log has no end");
  }

  #url(after: number, stackId: string | undefined): string {
    return `${this.#path}?after=${after}${stackId ? `&stack_id=${stackId}` : ""}`;
  }
}

const MAXIMUM_STREAMS = 50;

interface ReadLine {
  offset: number;
  stack_id: string;
  text: string;
  /** Of the event. */
  id?: number;
}

export interface FollowedEvents {
  lines: ReadLine[];
  statuses: string[];
  end?: { status: string; truncated: boolean };
}

/** Fails unless the lines are the bytes of a stack, or all, from an offset on. */
export function expectLines(
  lines: readonly ReadLine[],
  sent: readonly SentChunk[],
  after = 0,
  stackId?: string,
): void {
  const all = concatenate(sent.map(({ bytes }) => bytes));
  const stackOf = stacksOf(sent);
  const positions = [...all.keys()].filter((at) => at >= after && isOf(stackOf[at], stackId));
  let done = 0;
  for (const [index, { offset, stack_id, text, id }] of lines.entries()) {
    expect(offset).toBe(positions[done]);
    const next = lines[index + 1]?.offset ?? all.length;
    let end = offset;
    while (end < (id ?? next) && stackOf[end] === stack_id) end += 1;
    expect(text).toBe(decode(all.subarray(offset, end)));
    done += end - offset;
  }
  expect(done).toBe(positions.length);
  // No character is split. An offset of the test's own may split one.
  if (after === 0) expect(lines.map(({ text }) => text).join("")).toBe(textOf(sent, stackId));
}

/** Consecutive bytes of one stack are decoded together. */
function textOf(sent: readonly SentChunk[], stackId: string | undefined): string {
  const texts: string[] = [];
  for (let at = 0; at < sent.length; ) {
    const end = sent.findIndex((each, index) => index > at && each.stackId !== sent[at]?.stackId);
    const run = sent.slice(at, end < 0 ? sent.length : end);
    if (isOf(run[0]?.stackId, stackId))
      texts.push(decode(concatenate(run.map(({ bytes }) => bytes))));
    at += run.length;
  }
  return texts.join("");
}

export function expectBytes(
  bytes: Uint8Array,
  sent: readonly SentChunk[],
  after = 0,
  stackId?: string,
): void {
  const all = concatenate(sent.map((chunk) => chunk.bytes));
  const stackOf = stacksOf(sent);
  const expected = all.filter((_, at) => at >= after && isOf(stackOf[at], stackId));
  // Compared as a whole first: to compare the elements of large arrays is slow.
  if (bytes.length === expected.length && bytes.every((byte, at) => byte === expected[at])) return;
  expect(bytes).toEqual(expected);
}

function stacksOf(sent: readonly SentChunk[]): string[] {
  return sent.flatMap(({ stackId, bytes }) => Array<string>(bytes.length).fill(stackId));
}

function isOf(stack: string | undefined, stackId: string | undefined): boolean {
  return stackId === undefined || stack === stackId;
}
