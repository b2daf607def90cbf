export interface ServerSentEvent {
  /** `message` if the event has no name. */
  event: string;
  data: string;
  /** The newest ID so far, which may be that of an earlier event; empty if there was none. */
  id: string;
}

/**
 * Parses `text/event-stream` from bytes that are split anywhere. An event that is not complete is never
 * returned. Source: HTML, "Interpreting an event stream".
 */
export class EventParser {
  /** How long the server asks to wait before a new connection. */
  retryMs: number | undefined;
  readonly #decoder = new TextDecoder();
  #line = "";
  #skipsLineFeed = false;
  #event = "";
  #data = "";
  #id = "";

  /** Returns the events that the bytes complete. */
  push(bytes: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#skipsLineFeed && text.startsWith("\n")) text = text.slice(1);
    // Ends the line at once, because nothing may follow for a long time.
    this.#skipsLineFeed = text.endsWith("\r");
    const [first = "", ...rest] = text.split(/\r\n|\r|\n/);
    this.#line += first;
    const events: ServerSentEvent[] = [];
    for (const next of rest) {
      const event = this.#readLine(this.#line);
      if (event) events.push(event);
      this.#line = next;
    }
    return events;
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data += `${value}\n`;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = this.#event || "message";
    const data = this.#data;
    this.#event = "";
    this.#data = "";
    return data === "" ? undefined : { event, data: data.slice(0, -1), id: this.#id };
  }
}
