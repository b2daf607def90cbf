import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * Whether to drop the reply to a request that the service has processed. `verb` is the last part of
 * the action, `times` the number of identical requests so far.
 */
export type DropsReply = (verb: string, times: number) => boolean | Promise<boolean>;

/** A proxy between a runner and the service that can drop replies, delay them, or refuse connections. */
export class FaultyProxy {
  readonly #target: URL;
  readonly #dropsReply: DropsReply;
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  readonly #times = new Map<string, number>();
  #port = 0;

  private constructor(target: URL, dropsReply: DropsReply) {
    this.#target = target;
    this.#dropsReply = dropsReply;
  }

  static async start(target: URL, dropsReply: DropsReply): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, dropsReply);
    await proxy.open();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections until `open` is called. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = "", url = "", headers } = incoming;
    const call = `${method} ${url}`;
    const times = (this.#times.get(call) ?? 0) + 1;
    this.#times.set(call, times);
    const forwarded = request(this.#target.origin + url, { method, headers }, async (reply) => {
      const body = await buffer(reply);
      if (await this.#dropsReply(toVerb(url), times)) incoming.socket.destroy();
      else outgoing.writeHead(reply.statusCode ?? 500, reply.headers).end(body);
    });
    forwarded.once("error", () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  }
}

/** `claims` for a claim; `stacks` for `/v1/runner/attempts/{attempt_id}/stacks/{stack_id}`. */
function toVerb(url: string): string {
  const [, , , call, , verb] = url.split("/");
  return verb ?? call ?? "";
}
