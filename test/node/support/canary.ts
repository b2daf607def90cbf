import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const LOOPBACK = ["127.0.0.1", "::1"];
/** A port that webhooks may go to, so that nothing but the host is wrong with a URL. */
const ALLOWED_PORT = 8443;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A listener on loopback that counts who comes, whether they get to speak or not. */
export class Canary {
  port = 0;
  connections = 0;
  /** The paths that were asked for. */
  readonly paths: string[] = [];
  readonly #servers: Server[] = [];
  readonly #answer: Answer;

  private constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** On each loopback address of this machine, at one port: the allowed one, if it is free. */
  static async start(
    answer: Answer = (_, response) => {
      response.writeHead(204).end();
    },
  ): Promise<Canary> {
    const canary = new Canary(answer);
    for (const port of [ALLOWED_PORT, 0]) {
      const taken = await canary.#listen(port).then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error,
      );
      if (!taken) return canary;
      await canary.stop();
      if (taken.code !== "EADDRINUSE") throw taken;
    }
    throw new Error("There is no free port");
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
