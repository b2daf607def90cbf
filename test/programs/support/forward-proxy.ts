import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** A name that no resolver knows: requests to it arrive only through the proxy. */
export const BEHIND_PROXY = "longshore.invalid";

/** An HTTP proxy on this machine, which knows one name, and connects it to a port of this machine. */
export class ForwardProxy {
  /** The hosts and ports that were asked for. */
  readonly hosts: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(port: number): Promise<ForwardProxy> {
    const server = createServer((incoming, response) => {
      const { host, pathname, search } = new URL(incoming.url ?? "");
      proxy.hosts.push(host);
      const { method, headers } = incoming;
      const options = { host: "127.0.0.1", port, method, headers, path: pathname + search };
      const forwarded = request(options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(forwarded.on("error", () => response.destroy()));
    });
    const proxy = new ForwardProxy(server);
    server.on("connect", ({ url = "" }, socket) => {
      proxy.hosts.push(url);
      if (!url.startsWith(`${BEHIND_PROXY}:`) || url.endsWith(":443")) {
        socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
        return;
      }
      const tunnel = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        tunnel.pipe(socket).pipe(tunnel);
      });
      for (const each of [tunnel, socket])
        each.on("error", () => [tunnel, socket].map((one) => one.destroy()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Those of the machine that runs the test. */
export const NO_PROXIES: NodeJS.Dict<string> = Object.fromEntries(
  ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [
    [name, undefined],
    [name.toUpperCase(), undefined],
  ]),
);
