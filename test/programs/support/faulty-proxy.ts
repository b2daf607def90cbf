import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Intervals } from "../../../packages/runner/src/api-types.ts";

/**
 * Whether to drop the reply to a request that the service has processed. `verb` is the last part of
 * the action, `times` the number of identical requests so far.
 */
export type DropsReply = (verb: string, times: number) => boolean | Promise<boolean>;

/**
 * A proxy between a runner and the service that can drop replies, delay them, or refuse connections.
 * It also changes the intervals that the service asks of a runner, so that no test waits for them.
 */
export class FaultyProxy {
  /** Replace those of the service in each later reply. */
  intervals: Partial<Intervals> = { heartbeat_every_seconds: 1 };
  /** Whether requests get no reply and do not reach the service. */
  isSilent = false;
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
    if (this.isSilent) return void incoming.socket.destroy();
    // Without `accept-encoding`, because the proxy reads the reply.
    const { "accept-encoding": _, ...headers } = incoming.headers;
    const { method = "", url = "" } = incoming;
    const call = `${method} ${url}`;
    const times = (this.#times.get(call) ?? 0) + 1;
    this.#times.set(call, times);
    const forwarded = request(this.#target.origin + url, { method, headers }, async (reply) => {
      const body = await text(reply);
      if (await this.#dropsReply(toVerb(url), times)) incoming.socket.destroy();
      else
        outgoing.writeHead(reply.statusCode ?? 500, endToEnd(reply.headers)).end(this.#edit(body));
    });
    forwarded.once("error", () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  }

  /** Changes the intervals in a reply that has them. */
  #edit(body: string): string {
    if (!body.includes('"lease_seconds"')) return body;
    return JSON.stringify({ ...JSON.parse(body), ...this.intervals });
  }
}

/** Without the headers that describe the original length. */
function endToEnd({
  "content-length": _,
  "transfer-encoding": __,
  ...headers
}: OutgoingHttpHeaders) {
  return headers;
}

/** `claims` for a claim; `stacks` for `/v1/runner/attempts/{attempt_id}/stacks/{stack_id}`. */
function toVerb(url: string): string {
  const [, , , call, , verb] = url.split("/");
  return verb ?? call ?? "";
}
