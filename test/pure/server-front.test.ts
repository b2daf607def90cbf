import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientAddress, Networks } from "../../packages/server/src/http/client-address.ts";
import { Front } from "../../packages/server/src/http/front.ts";
import { findFreePort } from "../../scripts/lib/port.ts";

const MIB = 1 << 20;

/** What the front sends to: it keeps each request, and answers as a test wants. */
const received: IncomingMessage[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const upstream = createServer((incoming, response) => {
  received.push(incoming);
  answer(incoming, response);
});
const agent = new Agent({ keepAlive: true });
let front: Front;
let port: number;
let statuses: number[];

beforeEach(async () => {
  received.length = 0;
  statuses = [];
  answer = (_, response) => response.end("{}");
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  port = await findFreePort();
  front = new Front({
    url: new URL("https://longshore.example.com"),
    trustedProxies: new Networks([]),
    onResponse: (_method, { status }) => statuses.push(status),
  });
  front.open({ port: (upstream.address() as AddressInfo).port, headers: { "x-own": "yes" } });
  await front.listen("127.0.0.1", port);
});

afterEach(async () => {
  await front.drain(100);
  upstream.closeAllConnections();
  upstream.close();
});

async function send(
  method: string,
  options: { body?: Buffer; headers?: OutgoingHttpHeaders } = {},
) {
  const sent = request({ host: "127.0.0.1", port, path: "/x", method, agent, ...options });
  sent.end(options.body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response;
}

describe("the server in front of workerd", () => {
  it.each([
    ["POST", { "content-length": "0" }],
    ["GET", {}],
  ])("sends a %s once whose client has gone before its response", async (method, headers) => {
    await send("GET");
    answer = () => undefined;
    const sent = request({ host: "127.0.0.1", port, path: "/slow", method, headers, agent });
    sent.once("error", () => undefined).end();
    await expect.poll(() => received.length).toBe(2);
    sent.destroy();
    await once(received[1]?.socket as Socket, "close");
    await sleep(100);
    expect(received.map(({ url }) => url)).toEqual(["/x", "/slow"]);
    expect(statuses).toEqual([200]);
  });

  it.each([
    ["GET", 200, 3],
    ["POST", 503, 2],
  ])(
    "sends a %s again only if that changes nothing, when workerd has closed the connection",
    async (method, status, times) => {
      await send("GET");
      answer = (incoming, response) => {
        if (received.length === 2) incoming.socket.resetAndDestroy();
        else response.end("{}");
      };
      expect((await send(method, { headers: { "content-length": "0" } })).statusCode).toBe(status);
      expect(received).toHaveLength(times);
    },
  );

  it("also waits for a request that arrives while it waits for others", async () => {
    const ends: (() => void)[] = [];
    answer = (_, response) => ends.push(() => response.end("{}"));
    const first = send("GET");
    await expect.poll(() => ends.length).toBe(1);
    const socket = connect(port, "127.0.0.1");
    let reply = "";
    socket.on("data", (chunk) => {
      reply += chunk;
    });
    const closed = once(socket, "close");
    socket.write("GET /late HTTP/1.1\r\nhost: x\r\n");
    await sleep(100);
    const drained = front.drain(10_000);
    socket.write("\r\n");
    await expect.poll(() => ends.length).toBe(2);
    ends[0]?.();
    await first;
    await sleep(100);
    ends[1]?.();
    await closed;
    expect(reply).toMatch(/^HTTP\/1\.1 200/);
    await drained;
  });

  it.each(["host", "cf-connecting-ip", "x-own"])(
    "adds its own %s, also if Connection names it",
    async (name) => {
      await send("GET", {
        headers: { connection: `keep-alive, ${name}, x-other`, "x-other": "1" },
      });
      expect(received[0]?.headers).toMatchObject({
        host: "longshore.example.com",
        "cf-connecting-ip": "127.0.0.1",
        "x-own": "yes",
      });
      expect(received[0]?.headers).not.toHaveProperty("x-other");
    },
  );

  it.each([
    [MIB, {}, MIB],
    [MIB + 1, {}, MIB + 1],
    [20 * MIB, {}, MIB + 1],
    [20 * MIB, { "transfer-encoding": "chunked" }, MIB + 1],
  ])(
    "passes on what the Worker needs to refuse a body of %i bytes %o",
    async (size, headers, passed) => {
      let bytes = 0;
      answer = (incoming, response) => {
        incoming.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        incoming.once("end", () => response.writeHead(400).end("{}"));
      };
      const response = await send("POST", { body: Buffer.alloc(size), headers });
      expect([response.statusCode, bytes]).toEqual([400, passed]);
    },
  );
});

describe("networks", () => {
  it.each([
    ["10.0.0.0/8", ["10.255.0.1", "::ffff:10.0.0.1"], ["11.0.0.0", "::1"]],
    ["192.0.2.7", ["192.0.2.7"], ["192.0.2.8"]],
    ["fd00::/8", ["fd12::1"], ["fe80::1", "10.0.0.1"]],
    ["0.0.0.0/0", ["203.0.113.1"], ["2001:db8::1"]],
  ])("%s has its addresses, and no others", (text, inside, outside) => {
    const networks = new Networks([text]);
    expect(inside.filter((address) => !networks.has(address))).toEqual([]);
    expect(outside.filter((address) => networks.has(address))).toEqual([]);
  });

  it.each([
    "10",
    "127.1",
    "0x7f000001",
    "010.0.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "::/129",
    "::ffff:10.0.0.0/104",
    "private",
    "",
  ])("refuse %s", (text) => {
    expect(() => new Networks([text])).toThrow(`"${text}" is not a network such as 10.0.0.0/8.`);
  });

  it("name each address with its prefix", () => {
    expect(new Networks(["192.0.2.7", "fd00::1", "10.0.0.0/8"]).cidrs).toEqual([
      "192.0.2.7/32",
      "fd00::1/128",
      "10.0.0.0/8",
    ]);
  });
});

describe("the address of a client behind trusted proxies", () => {
  const trusted = new Networks(["10.0.0.0/8", "fd00::/8"]);

  it.each([
    ["192.0.2.1", "203.0.113.9", "192.0.2.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "203.0.113.9, 192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "192.0.2.1, 10.0.0.2", "192.0.2.1"],
    ["::ffff:10.0.0.1", "192.0.2.1:443", "192.0.2.1"],
    ["fd00::1", "[2001:db8::1]:443", "2001:db8::1"],
    ["10.0.0.1", "192.0.2.1, unknown", "10.0.0.1"],
    ["10.0.0.1", "010.0.0.1", "10.0.0.1"],
    ["fe80::1%eth0", "", "fe80::1"],
  ])("of %s, which says %o, is %s", (socket, forwarded, address) => {
    expect(clientAddress(socket, forwarded, trusted)).toBe(address);
  });
});
