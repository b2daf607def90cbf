import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const REFUSED_SHARE = 0.15;
const LOST_SHARE = 0.05;
const LONGEST_STREAM_MS = 600;

/**
 * A proxy that cuts every stream after a random time, answers some requests with a 502 page, and loses some
 * responses.
 */
export class ChaosProxy {
  cutStreams = 0;
  refused = 0;
  readonly #target: URL;
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
    if (Math.random() < REFUSED_SHARE) {
      this.refused += 1;
      outgoing.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
      return;
    }
    const { method = "", url = "", headers } = incoming;
    const options = { method, headers, agent: false };
    const forwarded = request(this.#target.origin + url, options, (reply) => {
      if (Math.random() < LOST_SHARE) return void outgoing.destroy();
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      outgoing.flushHeaders();
      reply.on("error", () => outgoing.destroy()).pipe(outgoing);
      if (reply.headers["content-type"]?.startsWith("text/event-stream")) this.#cut(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy());
    outgoing.once("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
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
