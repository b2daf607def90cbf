import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../packages/server/src/command-error.ts";

const RETRY_MS = 200;
/** The server dies, restarts, or limits the rate. */
const RETRIED_STATUSES = new Set([429, 500, 503]);

interface Line {
  offset: number;
  text: string;
}

/** Follows a log over server-sent events, and continues after each disconnection. */
export class Follower {
  /** The text of each line, in the order of arrival. */
  readonly texts: string[] = [];
  /** The offset after the last line. */
  position = 0;
  connections = 0;
  disconnections = 0;
  readonly #url: string;
  readonly #key: string;
  /** Positions at which it disconnects, in ascending order. */
  readonly #disconnectAt: number[];

  constructor(url: string, key: string, disconnectAt: readonly number[]) {
    this.#url = url;
    this.#key = key;
    this.#disconnectAt = disconnectAt.toSorted((a, b) => a - b);
  }

  /** Returns the data of the `end` event. */
  async followToEnd(signal: AbortSignal): Promise<unknown> {
    for (;;) {
      signal.throwIfAborted();
      const end = await this.#follow(signal).catch((error: unknown) => {
        if (error instanceof CommandError) throw error;
        return undefined;
      });
      if (end !== undefined) return end;
      await sleep(RETRY_MS);
    }
  }

  /** Undefined: the connection ended before the log. */
  async #follow(signal: AbortSignal): Promise<unknown> {
    const headers = { "x-api-key": this.#key, accept: "text/event-stream" };
    const from = this.position > 0 && { "last-event-id": String(this.position) };
    const response = await fetch(this.#url, { headers: { ...headers, ...from }, signal });
    if (!response.ok) {
      const text = await response.text();
      if (RETRIED_STATUSES.has(response.status)) return undefined;
      throw new CommandError(`GET ${this.#url}: ${response.status} ${text}`);
    }
    this.connections += 1;
    return this.#readEvents(response);
  }

  async #readEvents({ body }: Response): Promise<unknown> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of body ?? []) {
      const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const end = this.#receive(fieldsOf(block));
        if (end !== undefined) return end;
        // Leaving the loop cancels the body.
        if (this.#disconnects()) return undefined;
      }
    }
    return undefined;
  }

  #receive({ event, id, data }: Record<string, string>): unknown {
    if (data === undefined) return undefined;
    if (event === "end") return JSON.parse(data);
    if (event !== undefined) return undefined;
    const { offset, text } = JSON.parse(data) as Line;
    if (offset !== this.position) {
      throw new CommandError(`The follower got offset ${offset} after ${this.position}.`);
    }
    this.texts.push(text);
    this.position = Number(id);
    return undefined;
  }

  #disconnects(): boolean {
    const [next] = this.#disconnectAt;
    if (next === undefined || this.position < next) return false;
    this.#disconnectAt.shift();
    this.disconnections += 1;
    return true;
  }
}

function fieldsOf(block: string): Record<string, string> {
  const fields = block.split("\n").map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 2)];
  });
  return Object.fromEntries(fields);
}
