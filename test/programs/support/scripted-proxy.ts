import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to one request. */
export type Fault =
  | "none"
  | "lost request"
  | "lost response"
  | "silence"
  | { reply: number; headers?: Record<string, string>; body?: string }
  /** The connection breaks after so many bytes of the body. */
  | { cutAfter: number };

/** A proxy that passes responses on as they arrive, except for the requests that have a fault. */
export class ScriptedProxy {
  /** For the next requests, in their order. Those after them have no fault. */
  faults: Fault[] = [];
  readonly requests: IncomingMessage[] = [];
  target: URL;
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  #port = 0;

  private constructor(target: URL) {
    this.target = target;
  }

  static async start(target: URL): Promise<ScriptedProxy> {
    const proxy = new ScriptedProxy(target);
    await proxy.open();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Uses the same port again after `close`. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Forgets the requests so far. */
  reset(...faults: Fault[]): void {
    this.faults = faults;
    this.requests.length = 0;
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const fault = this.faults.shift() ?? "none";
    this.requests.push(incoming);
    if (fault === "lost request") return void incoming.socket.destroy();
    if (fault === "silence") return;
    if (typeof fault === "object" && "reply" in fault) {
      outgoing.writeHead(fault.reply, fault.headers).end(fault.body ?? "");
      return;
    }
    // Without `accept-encoding`, so that a cut is at a byte of the body.
    const { "accept-encoding": _, ...headers } = incoming.headers;
    const { method = "", url = "" } = incoming;
    // Without an agent, because a connection that is destroyed may be another request's already.
    const options = { method, headers, agent: false };
    const forwarded = request(this.target.origin + url, options, (reply) => {
      void relay(reply, outgoing, fault).catch(() => outgoing.destroy());
    });
    forwarded.once("error", () => incoming.socket.destroy());
    outgoing.once("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}

async function relay(reply: IncomingMessage, outgoing: ServerResponse, fault: Fault) {
  if (fault === "lost response") {
    for await (const _ of reply);
    outgoing.destroy();
    return;
  }
  let left = typeof fault === "object" && "cutAfter" in fault ? fault.cutAfter : Infinity;
  outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
  outgoing.flushHeaders();
  for await (const bytes of reply as AsyncIterable<Buffer>) {
    const passed = bytes.subarray(0, left);
    left -= passed.length;
    await new Promise<void>((resolve, reject) =>
      outgoing.write(passed, (error) => (error ? reject(error) : resolve())),
    );
    if (left === 0) return void outgoing.destroy();
  }
  outgoing.end();
}
