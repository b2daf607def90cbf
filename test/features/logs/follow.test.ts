import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AttemptLog } from "../../../src/features/logs/attempt-log.do.ts";
import {
  append,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  readEvents,
  type ServerSentEvent,
  start,
} from "../../support/log-harness.ts";
import type { Attempt } from "../../support/runner.ts";
import { newKey } from "../../support/world.ts";

let logged: LoggedDeployment;
let attempt: Attempt;

beforeEach(async () => {
  logged = await newLoggedDeployment();
  attempt = await start(logged);
});

const send = (offset: number, body: string, stack: 0 | 1 = 0) =>
  append(logged, attempt, { stackId: logged.stackIds[stack], offset, body });
const path = () => `/v1/deployments/${logged.deploymentId}/logs`;
const object = () => logObject(logged.deploymentId);
const open = (headers: Record<string, string> = {}, query = "", client = logged.world.client) =>
  client.raw("GET", `${path()}${query}`, { accept: "text/event-stream", ...headers });
const eventsOf = (response: Response) => readEvents(response.body as ReadableStream<Uint8Array>);
const follow = async (...options: Parameters<typeof open>) => eventsOf(await open(...options));
const lineOf = ({ data }: ServerSentEvent) => JSON.parse(data).text as string;

/** The lines up to the end of the log. */
async function linesOf(events: AsyncGenerator<ServerSentEvent>): Promise<string[]> {
  const lines: string[] = [];
  for await (const each of events) if (each.event === "message") lines.push(lineOf(each));
  return lines;
}

async function nextLine(events: AsyncGenerator<ServerSentEvent>): Promise<string> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error("The stream has ended");
    if (value.event === "message") return lineOf(value);
  }
}

const followerCount = () =>
  runInDurableObject(object(), (_, state) => state.getWebSockets().length);

describe("a follower", () => {
  it("continues at the exact byte after the last event, and counts it more than `after`", async () => {
    await send(0, "one\ntwo\nthree\n");
    const first = await follow();
    expect(await nextLine(first)).toBe("one\n");
    await first.return(undefined);
    await attempt.complete("failed");
    expect(await linesOf(await follow({ "last-event-id": "4" }))).toEqual(["two\n", "three\n"]);
    expect(await linesOf(await follow({ "last-event-id": "6" }, "?after=1"))).toEqual([
      "o\n",
      "three\n",
    ]);
    expect(await linesOf(await follow({}, "?after=8"))).toEqual(["three\n"]);
    expect(await linesOf(await follow({ "last-event-id": "14" }))).toEqual([]);
  });

  it("with an ID of another log is refused, before the stream begins", async () => {
    await send(0, "one\n");
    for (const id of ["5", "-1", "one", "4.0"]) {
      const response = await open({ "last-event-id": id });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("bad_input");
    }
  });

  it("gets each status once, of the deployment and of its stacks", async () => {
    const [first, second] = logged.stackIds;
    const events = await follow();
    const seen: string[] = [];
    const collect = async () => {
      for await (const { event, data } of events) {
        if (event === "message") continue;
        const { status, stacks = [] } = JSON.parse(data);
        seen.push(
          [event, status, ...stacks.map((each: { status: string }) => each.status)].join(" "),
        );
      }
    };
    const collected = collect();
    const until = (count: number) => vi.waitFor(() => expect(seen).toHaveLength(count), 20_000);
    await until(1);
    await attempt.report(first, { seq: 1, status: "in_progress" });
    await until(2);
    await attempt.report(first, { seq: 1, status: "in_progress" });
    await attempt.report(first, { seq: 2, status: "succeeded" });
    await until(3);
    await attempt.report(second, { seq: 1, status: "succeeded" });
    await until(4);
    await attempt.complete("succeeded");
    await collected;
    expect(seen).toEqual([
      "status in_progress pending pending",
      "status in_progress in_progress pending",
      "status in_progress succeeded pending",
      "status in_progress succeeded succeeded",
      "status succeeded succeeded succeeded",
      "end succeeded",
    ]);
  });

  it("of one stack gets only its lines, with offsets in the whole log", async () => {
    await send(0, "one\n");
    await send(4, "zwei\n", 1);
    await send(9, "three\n");
    await attempt.complete("failed");
    const lines: unknown[] = [];
    for await (const { event, id, data } of await follow({}, `?stack_id=${logged.stackIds[1]}`)) {
      if (event === "message") lines.push([id, JSON.parse(data).offset, JSON.parse(data).text]);
    }
    expect(lines).toEqual([["9", 4, "zwei\n"]]);
    const unknown = await open({}, "?stack_id=1CfiqFR7M6S38z94Y2usEL");
    expect(unknown.status).toBe(404);
  });

  it("gets a character that arrives in two parts as one", async () => {
    const events = await follow();
    const [head, tail] = ["a€".slice(0, 1), "€"].map((part) => new TextEncoder().encode(part));
    const euro = new Uint8Array([...(head ?? []), ...(tail ?? []).slice(0, 2)]);
    const sendBytes = (offset: number, body: Uint8Array) =>
      append(logged, attempt, { stackId: logged.stackIds[0], offset, body });
    await sendBytes(0, euro);
    expect(await nextLine(events)).toBe("a");
    await sendBytes(3, new Uint8Array([...(tail ?? []).slice(2), 10]));
    expect(await nextLine(events)).toBe("€\n");
    await sendBytes(5, euro);
    await attempt.complete("failed");
    expect((await linesOf(events)).join("")).toBe("a\ufffd");
  });

  it("of another organization, or without the role or the scope, gets no stream", async () => {
    const stranger = await newLoggedDeployment();
    expect((await open({}, "", stranger.world.client)).status).toBe(404);
    const { client: narrowed } = await newKey(logged.world, { scopes: ["projects:read"] });
    expect((await open({}, "", narrowed)).status).toBe(403);
    expect(await followerCount()).toBe(0);
  });

  it("that only asks for the headers opens no connection", async () => {
    const reply = await logged.world.client.request("HEAD", path(), undefined, {
      accept: "text/event-stream",
    });
    expect([reply.status, reply.text]).toEqual([200, ""]);
    expect(await followerCount()).toBe(0);
  });

  it("counts once against the rate limit", async () => {
    const { client } = await newKey(logged.world);
    const remaining = async () =>
      Number((await client.get("/v1/deployments")).headers.get("x-ratelimit-remaining"));
    const before = await remaining();
    const events = await follow({}, "", client);
    for (let at = 0; at < 5; at += 1) {
      await send(at * 2, "x\n");
      expect(await nextLine(events)).toBe("x\n");
    }
    expect(await remaining()).toBe(before - 2);
    await events.return(undefined);
  });

  it("that is gone leaves no connection to the log", async () => {
    const response = await open();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(await followerCount()).toBe(1);
    await reader.cancel();
    await vi.waitFor(async () => expect(await followerCount()).toBe(0), 20_000);
  });
});

describe("the log", () => {
  it("sleeps while followers wait, and wakes to tell them what has arrived", async () => {
    /** An object loses the mark when it is constructed again. */
    const mark = () =>
      runInDurableObject(object(), (instance: AttemptLog) => {
        Object.assign(instance, { isMarked: true });
      });
    const isMarked = () =>
      runInDurableObject(object(), (instance: AttemptLog) => "isMarked" in instance);
    const followers = [await follow(), await follow()];
    await send(0, "one\n");
    for (const events of followers) expect(await nextLine(events)).toBe("one\n");
    for (let constructions = 0; constructions < 3; constructions += 1) {
      await mark();
      // Waits for timers and promises of the object: none is left.
      await evictDurableObject(object());
      expect(await isMarked()).toBe(false);
      await send(4 + 4 * constructions, "two\n");
      for (const events of followers) expect(await nextLine(events)).toBe("two\n");
    }
    await evictDurableObject(object());
    await attempt.complete("failed");
    for (const events of followers) expect(await linesOf(events)).toEqual([]);
  });

  it("is not read for a follower that does not read its stream, and serves the others", async () => {
    const slow = await open();
    const reader = (slow.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const fast = await follow();
    const reads = vi.spyOn(env.ATTEMPT_LOG, "getByName");
    for (let at = 0; at < 10; at += 1) {
      await send(at * 4, "abc\n");
      expect(await nextLine(fast)).toBe("abc\n");
    }
    // Ten appends, and a read of the fast follower for each.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(20);
    reads.mockRestore();
    await reader.cancel();
    await fast.return(undefined);
  });

  it("serves a thousand followers", { timeout: 300_000 }, async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => newKey(logged.world)));
    const followers: AsyncGenerator<ServerSentEvent>[] = [];
    for (let at = 0; at < 1_000; at += 50) {
      const opened = Array.from({ length: 50 }, (_, index) => {
        return follow({}, "", keys[(at + index) % keys.length]?.client);
      });
      followers.push(...(await Promise.all(opened)));
    }
    expect(await followerCount()).toBe(1_000);
    const all = followers.map(linesOf);
    const chunks = Array.from({ length: 20 }, (_, at) => `line ${String(at).padStart(4, "0")}\n`);
    for (const [at, chunk] of chunks.entries()) await send(at * chunk.length, chunk);
    await attempt.complete("failed");
    for (const lines of await Promise.all(all)) expect(lines.join("")).toBe(chunks.join(""));
    await vi.waitFor(async () => expect(await followerCount()).toBe(0), 20_000);
  });
});
