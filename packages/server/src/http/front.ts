import {
  Agent,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { isIPv6 } from "node:net";
import { clientAddress, type Networks } from "./client-address.ts";
import { Exchange, type ExchangeEnd, refuse } from "./exchange.ts";
import { headersOfClient } from "./headers.ts";

/** Longer than proxies keep a connection that is idle, so that none sends a request to one that ends. */
const IDLE_CONNECTION_MS = 125_000;
/** workerd closes connections that are idle for 5 seconds. */
const IDLE_UPSTREAM_MS = 2_000;
const LOOPBACK = ["127.0.0.1", "::1"];
const NO_SUCH_ADDRESS = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);
const CLAIMS = "/v1/runner/claims";
const BAD_REQUEST = 400;

/** The port of workerd, and what it wants to have in each request. */
export interface RequestTarget {
  port: number;
  headers: Readonly<Record<string, string>>;
}

export interface FrontOptions {
  /** The address that people use, which every request gets. */
  url: URL;
  trustedProxies: Networks;
  onResponse(method: string, end: ExchangeEnd): void;
}

/**
 * Listens for clients, also before workerd does: a port that is in use is found before anything else happens. Every
 * request gets the public address and the address of its client, whatever it says about both, and is passed to workerd.
 */
export class Front {
  readonly #options: FrontOptions;
  readonly #agent = new Agent({
    keepAlive: true,
    timeout: IDLE_UPSTREAM_MS,
    maxFreeSockets: 256,
  });
  readonly #servers: Server[] = [];
  readonly #running = new Map<Exchange, Promise<void>>();
  /** Undefined: workerd is starting. */
  #target: RequestTarget | undefined;
  #isDraining = false;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /** Passes requests from now on. */
  open(target: RequestTarget): void {
    this.#target = target;
  }

  /** @param host `localhost` stands for both loopback addresses. */
  async listen(host: string, port: number): Promise<void> {
    if (host !== "localhost") return this.#listenAt(host, port);
    for (const each of LOOPBACK) {
      await this.#listenAt(each, port).catch((error: NodeJS.ErrnoException) => {
        const isAbsent = isIPv6(each) && NO_SUCH_ADDRESS.has(String(error.code));
        if (!isAbsent) throw error;
      });
    }
  }

  /** Accepts no connections and no claims, ends streams, and waits for the requests that run. */
  async drain(withinMs: number): Promise<void> {
    this.#isDraining = true;
    for (const server of this.#servers) server.close();
    for (const exchange of this.#running.keys()) exchange.endStream();
    const deadline = AbortSignal.timeout(withinMs);
    const isOver = new Promise((resolve) => deadline.addEventListener("abort", resolve));
    await Promise.race([isOver, this.#allEnded()]);
    for (const server of this.#servers) server.closeAllConnections();
    this.#agent.destroy();
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  #listenAt(host: string, port: number): Promise<void> {
    const server = createServer((request, response) => this.#handle(request, response));
    server.keepAliveTimeout = IDLE_CONNECTION_MS;
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request.url ?? "");
    if (this.#isDraining) response.setHeader("connection", "close");
    if (path === undefined) refuse(response, "Send a path.", BAD_REQUEST);
    else if (!this.#target) refuse(response, "The server is starting. Try again.");
    else if (this.#isDraining && isClaim(request)) {
      refuse(response, "The server is stopping. Try again.");
    } else this.#pass(request, response, { path, target: this.#target });
  }

  #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { path, target }: { path: string; target: RequestTarget },
  ): void {
    const headers = [
      ...headersOfClient(request.rawHeaders),
      ...["host", this.#options.url.host, "cf-connecting-ip", this.#clientOf(request)],
      ...Object.entries(target.headers).flat(),
    ];
    const upstream = { port: target.port, agent: this.#agent };
    const exchange = new Exchange(request, response, { upstream, headers });
    const { method = "GET" } = request;
    const ended = exchange.run(path, (end) => {
      this.#options.onResponse(method, end);
      if (this.#isDraining) exchange.endStream();
    });
    this.#running.set(exchange, ended);
    ended.finally(() => this.#running.delete(exchange));
  }

  #clientOf({ socket, headers }: IncomingMessage): string {
    const forwarded = String(headers["x-forwarded-for"] ?? "");
    return clientAddress(socket.remoteAddress ?? "", forwarded, this.#options.trustedProxies);
  }
}

/** A claim would start a deployment whose runner the server does not answer afterwards. */
function isClaim({ method, url }: IncomingMessage): boolean {
  return method === "POST" && pathOf(url ?? "")?.startsWith(CLAIMS) === true;
}

/** A request may name its URL instead, as one to a proxy does. Undefined: it has no path. */
function pathOf(target: string): string | undefined {
  if (target.startsWith("/")) return target;
  const url = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  return url ? url.pathname + url.search : undefined;
}
