import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** An endpoint on this machine that answers at once, and says when it has heard enough. */
export interface Receiver {
  url: string;
  /** Waits for so many requests that are new to it; gives the time of the last. */
  hear(count: number): Promise<number>;
  /** When it first heard of an event at a path, if it has since then. */
  heardAt(path: string, eventId: string): number | undefined;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const heard = new Map<string, number>();
  let wanted = Number.POSITIVE_INFINITY;
  let enough: (time: number) => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200).end("ok");
      const what = `${request.url} ${request.headers["webhook-id"]}`;
      if (heard.has(what)) return;
      const now = performance.now();
      heard.set(what, now);
      if (heard.size === wanted) enough(now);
    });
  });
  server.keepAliveTimeout = 60_000;
  return {
    url: await listen(server),
    hear: (count) => {
      heard.clear();
      wanted = count;
      return new Promise((resolve) => {
        enough = resolve;
      });
    },
    heardAt: (path, eventId) => heard.get(`${path} ${eventId}`),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An endpoint on this machine that takes requests and never answers one. */
export interface Hanging {
  url: string;
  /** Waits until it holds so many requests. */
  holds(count: number): Promise<void>;
  /** Breaks off all that it holds. */
  letGo(): void;
  close(): void;
}

export async function startHanging(): Promise<Hanging> {
  const held = new Set<IncomingMessage>();
  const server = createServer((request) => {
    held.add(request.resume());
  });
  const letGo = () => {
    server.closeAllConnections();
    held.clear();
  };
  return {
    url: await listen(server),
    holds: async (count) => {
      for (let tries = 0; held.size < count; tries++) {
        if (tries === 100) throw new Error(`It holds ${held.size} requests`);
        await sleep(50);
      }
    },
    letGo,
    close: () => {
      letGo();
      server.close();
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
