import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from "node:http";
import { Transform } from "node:stream";
import { LIMITS } from "../../../../src/lib/limits.ts";
import { withoutHopByHop } from "./headers.ts";

const HOST = "127.0.0.1";
/** Clients connect again after this time when their stream ends. */
const RETRY_STREAM = "retry: 1000\n\n";
const END_OF_EVENT = "\n\n";
const UNAVAILABLE = 503;
/** With one byte over its limit, the Worker refuses a body. Given more, workerd closes the connection while it is sent. */
const MAXIMUM_BODY_BYTES = LIMITS.bodyBytes.value + 1;
/** Methods of requests that can be sent twice. */
const IS_REPEATABLE = new Set(["GET", "HEAD"]);

export interface Upstream {
  port: number;
  agent: Agent;
}

export interface ExchangeEnd {
  status: number;
  headers: IncomingMessage["headers"];
}

/** One request of a client, sent to workerd, and its response. */
export class Exchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #upstream: Upstream;
  readonly #headers: readonly string[];
  #sent: ClientRequest | undefined;
  #received: IncomingMessage | undefined;
  #isStream = false;
  /** Whether the stream is between two events. */
  #isBetweenEvents = true;

  /** @param headers What workerd gets, beside the headers of the body. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    options: { upstream: Upstream; headers: readonly string[] },
  ) {
    this.#request = request;
    this.#response = response;
    this.#upstream = options.upstream;
    this.#headers = options.headers;
  }

  /** Resolves when the response has ended, in whichever way. */
  run(path: string, onHead: (end: ExchangeEnd) => void): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#response.once("close", resolve));
    this.#response.once("close", () => this.#sent?.destroy());
    this.#send(path, onHead);
    return ended;
  }

  /** Ends a stream of events so that its reader connects again. Other responses go on. */
  endStream(): void {
    if (!this.#isStream || this.#response.writableEnded) return;
    this.#received?.unpipe(this.#response);
    this.#response.end(this.#isBetweenEvents ? RETRY_STREAM : undefined);
  }

  #send(path: string, onHead: (end: ExchangeEnd) => void): void {
    const { port, agent } = this.#upstream;
    const { method = "GET" } = this.#request;
    const body = bodyOf(this.#request);
    const headers = [...this.#headers, ...(body?.headers ?? [])];
    const sent = sendRequest({ host: HOST, port, agent, method, path, headers });
    this.#sent = sent;
    sent.once("response", (received) => this.#pass(received, onHead));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // The client sees that its response is incomplete.
      if (this.#received) return void this.#response.destroy();
      // The client has gone, or was refused already.
      if (this.#response.destroyed || this.#response.headersSent) return;
      // workerd had closed the connection while it was idle.
      const wasIdle = sent.reusedSocket && error.code === "ECONNRESET";
      if (wasIdle && !body && IS_REPEATABLE.has(method)) return this.#send(path, onHead);
      refuse(this.#response, "The server is starting again. Try again.");
      onHead({ status: UNAVAILABLE, headers: {} });
    });
    if (body) body.stream.pipe(sent);
    else sent.end();
  }

  #pass(received: IncomingMessage, onHead: (end: ExchangeEnd) => void): void {
    const { statusCode = 502, statusMessage, headers } = received;
    this.#received = received;
    this.#response.writeHead(statusCode, statusMessage, withoutHopByHop(received.rawHeaders));
    this.#isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
    if (this.#isStream) {
      this.#response.flushHeaders();
      received.on("data", (chunk: Buffer) => {
        this.#isBetweenEvents = chunk.subarray(-END_OF_EVENT.length).equals(EVENT_END_BYTES);
      });
    }
    received.once("error", () => this.#response.destroy());
    received.pipe(this.#response);
    onHead({ status: statusCode, headers });
  }
}

const EVENT_END_BYTES = Buffer.from(END_OF_EVENT);

interface Body {
  stream: NodeJS.ReadableStream;
  /** Its length, or that it is chunked. */
  headers: readonly string[];
}

function bodyOf(request: IncomingMessage): Body | undefined {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && length === "0") return undefined;
  return encoding === undefined && Number(length) < MAXIMUM_BODY_BYTES
    ? { stream: request, headers: ["content-length", length] }
    : { stream: request.pipe(firstBytes()), headers: ["transfer-encoding", "chunked"] };
}

/** Reads the whole body, and passes on its first `MAXIMUM_BODY_BYTES`. */
function firstBytes(): Transform {
  let left = MAXIMUM_BODY_BYTES;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.subarray(0, left);
      left -= part.length;
      done(null, part);
    },
  });
}

/** An error as those of the API. */
export function refuse(response: ServerResponse, message: string, status = UNAVAILABLE): void {
  const headers = {
    "content-type": "application/json",
    "cache-control": "private, no-store",
    ...(status === UNAVAILABLE && { "retry-after": "1" }),
  };
  response.writeHead(status, headers).end(JSON.stringify({ code: "internal", message }));
}
