import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const LOOPBACK = ["127.0.0.1", "::1"];
/** A port that webhooks may use, so that only the host of a URL is invalid. */
const ALLOWED_PORT = 8443;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on loopback and counts connections, including those without a request. */
export class LoopbackListener {
  port = 0;
  connections = 0;
  /** The paths of all requests. */
  readonly paths: string[] = [];
  readonly #servers: Server[] = [];
  readonly #answer: Answer;

  private constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Listens on every loopback address, on the allowed port if it is free. */
  static async start(
    answer: Answer = (_, response) => {
      response.writeHead(204).end();
    },
  ): Promise<LoopbackListener> {
    const listener = new LoopbackListener(answer);
    for (const port of [ALLOWED_PORT, 0]) {
      const error = await listener.#listen(port).then(
        () => undefined,
        (reason: NodeJS.ErrnoException) => reason,
      );
      if (!error) return listener;
      await listener.stop();
      if (error.code !== "EADDRINUSE") throw error;
    }
    throw new Error("No port is free");
  }

  async #listen(port: number): Promise<void> {
    this.port = port;
    for (const host of LOOPBACK) {
      const server = createServer((request, response) => {
        this.paths.push(request.url ?? "");
        response.setHeader("connection", "close");
        this.#answer(request.resume(), response);
      });
      server.on("connection", () => {
        this.connections += 1;
      });
      await listening(server, this.port, host);
      this.#servers.push(server);
      this.port = (server.address() as AddressInfo).port;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}
