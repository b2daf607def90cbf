import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An endpoint on this machine that answers at once, and says when it has heard enough. */
export interface Receiver {
  url: string;
  /** Waits for so many requests that are new to it; gives the time of the last. */
  hear(count: number): Promise<number>;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const heard = new Set<string>();
  let wanted = Number.POSITIVE_INFINITY;
  let enough: (time: number) => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200).end("ok");
      heard.add(`${request.url} ${request.headers["webhook-id"]}`);
      if (heard.size === wanted) enough(performance.now());
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hear: (count) => {
      heard.clear();
      wanted = count;
      return new Promise((resolve) => {
        enough = resolve;
      });
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
