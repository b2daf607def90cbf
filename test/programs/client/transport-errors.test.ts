import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Parsed, useService } from "../support/service.ts";

/** The endpoint's handlers for a new connection and for a complete request. */
interface Endpoint {
  onConnection?(socket: Socket): void;
  onRequest?(socket: Socket): void;
  scheme?: "http" | "https";
}

const OK = "HTTP/1.1 200 OK\r\n";
const LOST = "no connection, or lost before a valid response";
const SHORT = "the response ended before its declared length";
const POLLING = { interval: 50, timeout: 300_000 };

/** Writes part of a response, and resets the connection when the system has the bytes. */
const thenReset = (socket: Socket, text: string) => {
  socket.write(text, () => socket.resetAndDestroy());
};

/** workerd 1.20261023.1 does not distinguish these cases, so they share one error text. */
const WITHOUT_RESPONSE: [string, Endpoint, string][] = [
  ["resets the connection at once", { onConnection: (socket) => socket.resetAndDestroy() }, LOST],
  ["closes the connection at once", { onConnection: (socket) => socket.end() }, LOST],
  ["resets after the request", { onRequest: (socket) => socket.resetAndDestroy() }, LOST],
  ["closes after the request", { onRequest: (socket) => socket.end() }, LOST],
  ["speaks another protocol", { onRequest: (socket) => socket.end("SSH-2.0-x\r\n\r\n") }, LOST],
  ["sends a malformed header", { onRequest: (socket) => socket.end(`${OK}none\r\n\r\n`) }, LOST],
  ["resets in its head", { onRequest: (socket) => thenReset(socket, `${OK}a: b`) }, LOST],
  [
    "speaks no TLS",
    { scheme: "https", onConnection: (socket) => void socket.once("data", () => socket.end("no")) },
    "the request failed",
  ],
];

const WITH_RESPONSE: [string, Endpoint, string][] = [
  [
    "resets after its head",
    { onRequest: (socket) => thenReset(socket, `${OK}content-length: 9\r\n\r\n`) },
    SHORT,
  ],
  [
    "sends fewer bytes than it declares",
    { onRequest: (socket) => socket.end(`${OK}content-length: 9\r\n\r\nhello`) },
    SHORT,
  ],
  [
    "breaks off between two chunks",
    { onRequest: (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n`) },
    "the response broke off",
  ],
  [
    "sends no gzip that it declares",
    {
      onRequest: (socket) =>
        socket.end(`${OK}content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello`),
    },
    "the response could not be decompressed",
  ],
];

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let pingTo: (url: string) => Promise<Parsed>;
const servers: Server[] = [];

beforeAll(async () => {
  const { owner } = service;
  const project = await owner.call("POST", "/v1/projects", { name: "storefront" });
  const root = `/v1/projects/${project.id}/notification-integrations`;
  /** Pings a URL; returns the delivery after its first attempt. */
  pingTo = async (url) => {
    const { id } = await owner.call("POST", root, { type: "webhook", configuration: {}, url });
    const ping = await owner.call("POST", `${root}/${id}/ping`);
    const sent = async () => {
      const delivery = await owner.call("GET", `${root}/${id}/deliveries/${ping.id}`);
      return delivery.attempts.length > 0 && delivery;
    };
    const delivery = await vi.waitUntil(sent, POLLING);
    await owner.call("DELETE", `${root}/${id}`);
    return delivery;
  };
});

afterAll(async () => {
  for (const server of servers) server.close();
});

async function listen({ onConnection, onRequest, scheme = "http" }: Endpoint) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    onConnection?.(socket);
    let request = "";
    if (!onRequest) return;
    socket.on("data", (data) => {
      request += data;
      const [head, body] = request.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head ?? "")?.[1]);
      if (body?.length !== length) return;
      request = "";
      onRequest(socket);
    });
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
}

describe("an endpoint", () => {
  it.each(WITHOUT_RESPONSE)(
    "that %s gets an error text that states only what is known",
    async (_, does, error) => {
      const { attempts, status } = await pingTo(await listen(does));
      expect(status).toBe("pending");
      expect(attempts).toMatchObject([{ number: 1, error }]);
      expect(attempts[0]).not.toHaveProperty("status_code");
      expect(attempts[0]).not.toHaveProperty("response");
    },
  );

  it.each([
    ["that refuses the connection", "http://127.0.0.1:1/", LOST],
    ["whose name does not resolve", "http://longshore.invalid/", "the request failed"],
  ])("%s gets an error text that states only what is known", async (_, url, error) => {
    const { attempts } = await pingTo(url);
    expect(attempts).toMatchObject([{ error }]);
    expect(attempts[0]).not.toHaveProperty("status_code");
  });

  it.each(WITH_RESPONSE)("that %s counts as a reply that failed", async (_, does, error) => {
    const { attempts, status } = await pingTo(await listen(does));
    expect(status).toBe("pending");
    expect(attempts).toMatchObject([{ number: 1, status_code: 200, error }]);
    expect(attempts[0]).not.toHaveProperty("response");
  });

  it("that sends more bytes than it declares is read up to the declared length", async () => {
    const more = `${OK}content-length: 3\r\n\r\nhello`;
    const { attempts, status } = await pingTo(
      await listen({ onRequest: (socket) => socket.end(more) }),
    );
    expect(status).toBe("succeeded");
    expect(attempts).toMatchObject([{ status_code: 200, response: "hel" }]);
    expect(attempts[0]).not.toHaveProperty("error");
  });
});
