import { expect } from "vitest";
import type { Client } from "./client.ts";
import { readEvents, type ServerSentEvent } from "./log-harness.ts";

export const EVENTS = { accept: "text/event-stream" };

/** A stream whose events are read one at a time. */
export class Follower {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  text = "";

  constructor({ body }: Response) {
    if (!body) throw new Error("There is no stream");
    this.#reader = body.getReader();
  }

  static async open(
    client: Client,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Follower> {
    const response = await client.raw("GET", path, { ...EVENTS, ...headers });
    expect(response.status).toBe(200);
    return new Follower(response);
  }

  /** Reads until the stream contains this text. False if the stream ends before. */
  async reads(text: string): Promise<boolean> {
    while (!this.text.includes(text)) if (!(await this.next())) return false;
    return true;
  }

  async next(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    this.text += this.#decoder.decode(value, { stream: true });
    return !done;
  }

  async rest(): Promise<string> {
    const { length } = this.text;
    while (await this.next());
    return this.text.slice(length);
  }

  disconnect(): Promise<void> {
    return this.#reader.cancel();
  }

  async events(): Promise<ServerSentEvent[]> {
    const events: ServerSentEvent[] = [];
    for await (const event of readEvents(new Blob([this.text]).stream())) events.push(event);
    return events;
  }
}
