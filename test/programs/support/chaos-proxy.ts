import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const REFUSED_SHARE = 0.15;
const LOST_SHARE = 0.05;
/** As often as the command line repeats a request: one more would be an error, and rightly so. */
const MOST_FAULTS_IN_A_ROW = 3;
const LONGEST_STREAM_MS = 300;

/**
 * A proxy that cuts every stream after a random time, answers some requests with a 502 page, and loses some
 * responses: up to three in a row of each caller, method and URL.
 */
export class ChaosProxy {
  cutStreams = 0;
  refused = 0;
  readonly #target: URL;
  readonly #faultsInARow = new Map<string, number>();
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));

  private constructor(target: URL) {
    this.#target = target;
  }

  static async start(target: URL): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const random = this.#nextRandom(incoming);
    if (random < REFUSED_SHARE) {
      this.refused += 1;
      outgoing.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
      return;
    }
    const { method = "", url = "", headers } = incoming;
    const options = { method, headers, agent: false };
    const forwarded = request(this.#target.origin + url, options, (reply) => {
      if (random < REFUSED_SHARE + LOST_SHARE) return void outgoing.destroy();
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      outgoing.flushHeaders();
      reply.on("error", () => outgoing.destroy()).pipe(outgoing);
      if (reply.headers["content-type"]?.startsWith("text/event-stream")) this.#cut(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy());
    outgoing.once("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  }

  /** 1 after the most faults in a row, which is no fault. */
  #nextRandom({ method, url, headers }: IncomingMessage): number {
    const key = `${headers["x-api-key"]} ${method} ${url}`;
    const faults = this.#faultsInARow.get(key) ?? 0;
    // The first request of all is refused, so that every run has a fault.
    const next = this.refused === 0 ? 0 : Math.random();
    const random = faults < MOST_FAULTS_IN_A_ROW ? next : 1;
    this.#faultsInARow.set(key, random < REFUSED_SHARE + LOST_SHARE ? faults + 1 : 0);
    return random;
  }

  #cut(stream: ServerResponse): void {
    const cut = () => {
      this.cutStreams += 1;
      stream.destroy();
    };
    const timer = setTimeout(cut, Math.random() * LONGEST_STREAM_MS);
    stream.once("close", () => clearTimeout(timer));
  }
}
