import type { StackEvent } from "@aws-sdk/client-cloudformation";
import type { StackApi } from "./stack-api.ts";

/** The events of one stack, each once. */
export class EventReader {
  readonly #api: StackApi;
  readonly #stackId: string;
  readonly #since: Date;
  /** The newest that was read. */
  #lastId: string | undefined;

  /** Events before `since` are of earlier operations. */
  constructor(api: StackApi, stackId: string, since = new Date(0)) {
    this.#api = api;
    this.#stackId = stackId;
    this.#since = since;
  }

  /** The next call of `read` has only what happens from now on. */
  async skip(): Promise<void> {
    for await (const { EventId } of this.#api.readEvents(this.#stackId)) {
      this.#lastId = EventId;
      return;
    }
  }

  /** Oldest first. */
  async read(): Promise<StackEvent[]> {
    const events: StackEvent[] = [];
    for await (const event of this.#api.readEvents(this.#stackId)) {
      if (event.EventId === this.#lastId) break;
      if (event.Timestamp && event.Timestamp < this.#since) break;
      events.push(event);
    }
    this.#lastId = events[0]?.EventId ?? this.#lastId;
    return events.toReversed();
  }
}
