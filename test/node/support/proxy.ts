import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * Whether an answer is lost, now that the call has been carried out: by the verb of the call, and how
 * often the same call was made.
 */
export type Loses = (verb: string, times: number) => boolean | Promise<boolean>;

/** Stands between a runner and the service, and can lose answers, hold them, or be away. */
export class Relay {
  readonly #target: URL;
  readonly #loses: Loses;
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  readonly #times = new Map<string, number>();
  #port = 0;

  private constructor(target: URL, loses: Loses) {
    this.#target = target;
    this.#loses = loses;
  }

  static async start(target: URL, loses: Loses): Promise<Relay> {
    const relay = new Relay(target, loses);
    await relay.open();
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** From now on, connections are refused. */
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
    const onward = request(this.#target.origin + url, { method, headers }, async (answer) => {
      const body = await buffer(answer);
      if (await this.#loses(toVerb(url), times)) incoming.socket.destroy();
      else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(body);
    });
    onward.once("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
  }
}

/** `claims`, or of `/v1/runner/attempts/{attempt_id}/stacks/{stack_id}` its `stacks`. */
function toVerb(url: string): string {
  const [, , , call, , verb] = url.split("/");
  return verb ?? call ?? "";
}
