import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  start,
  WatchedLogs,
} from "../../support/log-harness.ts";
import { LogReaders } from "../../support/log-readers.ts";
import type { Attempt } from "../../support/runner.ts";

const CHUNKS = 25_000;

let logged: LoggedDeployment;
let attempt: Attempt;
let client: Client;
let path: string;
let logs: WatchedLogs;

beforeEach(async () => {
  logs = new WatchedLogs();
  logged = await newLoggedDeployment(new Instrumented({ logs: logs.namespace }).fetch);
  attempt = await start(logged);
  ({ client } = logged.world);
  path = `/v1/deployments/${logged.deploymentId}/logs`;
});

const send = (offset: number, body: string | Uint8Array, stack: 0 | 1 = 0) =>
  append(logged, attempt, { stackId: logged.stackIds[stack], offset, body });

describe("a log with very many small chunks", () => {
  beforeEach(async () => {
    await send(0, "first\n");
    await runInDurableObject(logObject(logged.deploymentId), (_, { storage }) => {
      for (let at = 0; at < CHUNKS; at += 1) {
        const start = 6 + at * 2;
        storage.sql.exec(
          "insert into chunks values (?, ?, ?, cast('y' || char(10) as blob))",
          start,
          logged.stackIds[1],
          1,
        );
      }
    });
    // It has counted its bytes when it was constructed.
    await evictDurableObject(logObject(logged.deploymentId));
    await send(6 + CHUNKS * 2, "last\n");
  });

  it("is read for one of its stacks in steps, each of a bounded size", async () => {
    const [first] = logged.stackIds;
    const { body } = await client.get(`${path}?stack_id=${first}`);
    expect(body).toMatchObject({ data: [{ text: "first\n" }], has_more: true });
    expect(body.next_offset).toBeLessThanOrEqual(6 + 10_000 * 2);
    const readers = new LogReaders(async () => client, logged.deploymentId);
    const lines = await readers.lines(0, first);
    expect(lines.map(({ text }) => text)).toEqual(["first\n", "last\n"]);
    expect(new TextDecoder().decode(await readers.bytes(0, first))).toBe("first\nlast\n");
    await attempt.complete("failed");
    const followed = await readers.follow([], first);
    expect(followed.lines.map(({ text }) => text)).toEqual(["first\n", "last\n"]);
  });

  it("is read as a whole", async () => {
    const readers = new LogReaders(async () => client, logged.deploymentId);
    const text = new TextDecoder().decode(await readers.bytes(0));
    expect(text).toBe(`first\n${"y\n".repeat(CHUNKS)}last\n`);
    expect(await readers.lines(CHUNKS * 2)).toHaveLength(4);
  });
});

describe("a download", () => {
  it("breaks off if the log is deleted meanwhile, instead of ending early", async () => {
    for (const offset of [0, 1, 2]) await send(offset * 200_000, new Uint8Array(200_000));
    const response = await client.raw("GET", path, { accept: "text/plain" });
    await logObject(logged.deploymentId).erase();
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(logs.count("read")).toBe(2);
  });
});

describe("the status of a stream", () => {
  it("is that of the end, also from an object that was evicted since", async () => {
    await send(0, "one\n");
    await attempt.complete("failed");
    const object = logObject(logged.deploymentId);
    await evictDurableObject(object);
    const { webSocket } = await object.fetch("https://log/", { headers: { upgrade: "websocket" } });
    const message = new Promise((resolve) => {
      webSocket?.addEventListener("message", ({ data }) => resolve(JSON.parse(String(data))));
    });
    webSocket?.accept();
    expect(await message).toMatchObject({
      log: { size: 4, isSealed: true, isTruncated: false },
      run: { status: "failed", hasStarted: true },
    });
    webSocket?.close();
  });

  it("does not hold back a character that another stack has cut off", async () => {
    await send(0, Uint8Array.of(0x61, 0xe2));
    expect((await client.get(path)).body).toMatchObject({
      data: [{ text: "a" }],
      next_offset: 1,
      has_more: false,
    });
    await send(2, "b", 1);
    for (const query of ["", `?stack_id=${logged.stackIds[0]}`]) {
      const { body } = await client.get(`${path}${query}`);
      expect(body.data[0]).toMatchObject({ text: "a\ufffd", stack_id: logged.stackIds[0] });
      expect(body.next_offset).toBe(3);
    }
  });
});
