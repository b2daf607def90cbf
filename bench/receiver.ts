import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A local endpoint that answers at once and records the arrival of each event. */
export interface Receiver {
  url: string;
  /** Forgets earlier requests and waits for `count` distinct new ones; returns the time of the last. */
  waitFor(count: number): Promise<number>;
  /** The first arrival of an event at a path since the last `waitFor`. */
  receivedAt(path: string, eventId: string): number | undefined;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const received = new Map<string, number>();
  let wanted = Number.POSITIVE_INFINITY;
  let complete: (time: number) => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200).end("ok");
      const what = `${request.url} ${request.headers["webhook-id"]}`;
      if (received.has(what)) return;
      const now = performance.now();
      received.set(what, now);
      if (received.size === wanted) complete(now);
    });
  });
  server.keepAliveTimeout = 60_000;
  return {
    url: await listen(server),
    waitFor: (count) => {
      received.clear();
      wanted = count;
      return new Promise((resolve) => {
        complete = resolve;
      });
    },
    receivedAt: (path, eventId) => received.get(`${path} ${eventId}`),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A local endpoint that accepts requests and never answers. */
export interface UnresponsiveEndpoint {
  url: string;
  /** Waits until this many requests are open. */
  waitForRequests(count: number): Promise<void>;
  /** Closes all connections. */
  closeAll(): void;
  close(): void;
}

export async function startUnresponsiveEndpoint(): Promise<UnresponsiveEndpoint> {
  const open = new Set<IncomingMessage>();
  const server = createServer((request) => {
    open.add(request.resume());
  });
  const closeAll = () => {
    server.closeAllConnections();
    open.clear();
  };
  return {
    url: await listen(server),
    waitForRequests: async (count) => {
      for (let tries = 0; open.size < count; tries++) {
        if (tries === 100) throw new Error(`Only ${open.size} requests arrived`);
        await sleep(50);
      }
    },
    closeAll,
    close: () => {
      closeAll();
      server.close();
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
