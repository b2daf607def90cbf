import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { LONG_MS } from "../../effort.ts";
import { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { EVENTS, Follower } from "../../support/log-follower.ts";
import {
  append,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  passTime,
  start,
  WatchedLogs,
} from "../../support/log-harness.ts";
import type { Attempt } from "../../support/runner.ts";
import { join, newDeployment, newKey, type Person, signIn } from "../../support/world.ts";

let logged: LoggedDeployment;
let attempt: Attempt;
let path: string;
let logs: WatchedLogs;
let worker: Instrumented;

beforeEach(async () => {
  logs = new WatchedLogs();
  worker = new Instrumented({ logs: logs.namespace });
  logged = await newLoggedDeployment(worker.fetch);
  attempt = await start(logged);
  path = `/v1/deployments/${logged.deploymentId}/logs`;
});

const send = (offset: number, body: string, stack: 0 | 1 = 0) =>
  append(logged, attempt, { stackId: logged.stackIds[stack], offset, body });
const followers = () =>
  runInDurableObject(logObject(logged.deploymentId), (_, state) => state.getWebSockets().length);

const open = (headers?: Record<string, string>, client = logged.world.client) =>
  Follower.open(client, path, headers);

function limitStreams(count: number): void {
  const spy = vi.spyOn(LIMITS.logStreamsOfKey, "value", "get").mockReturnValue(count);
  onTestFinished(() => spy.mockRestore());
}

/** Waits for the object, which does its work in the background. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isDone()); tries += 1) {
    if (tries > 500) throw new Error("It has not happened");
    await scheduler.wait(10);
  }
}

describe("the object, while followers wait", () => {
  it("sleeps: it is evicted with their connections, and a line constructs it once", async () => {
    await send(0, "one\n");
    const both = [await open(), await open()];
    for (const each of both) expect(await each.reads("one")).toBe(true);
    await attempt.report(logged.stackIds[0], { seq: 1, status: "in_progress" });
    for (const each of both) expect(await each.reads('"status":"in_progress"}')).toBe(true);
    const mark = () =>
      runInDurableObject(logObject(logged.deploymentId), (object) => {
        const isNew = !marked.has(object);
        marked.add(object);
        return isNew;
      });
    const marked = new WeakSet<object>();
    expect([await mark(), await mark()]).toEqual([true, false]);
    const calls = logs.calls.length;
    await evictDurableObject(logObject(logged.deploymentId));
    expect(logs.calls.length).toBe(calls);
    await send(4, "two\n");
    expect([await mark(), await mark()]).toEqual([true, false]);
    for (const each of both) expect(await each.reads("two")).toBe(true);
    // The object does not know the status again, which is no new status.
    for (const { text } of both) expect(text.split("event: status")).toHaveLength(3);
    expect(await followers()).toBe(2);
    expect(logs.count("fetch")).toBe(2);
    await attempt.complete("failed");
    for (const each of both) expect(await each.reads("event: end")).toBe(true);
  });

  it("has no timer when all is sent", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    await send(0, "one\n");
    const follower = await open();
    expect(await follower.reads("one")).toBe(true);
    timers.mockClear();
    await runInDurableObject(logObject(logged.deploymentId), (object) =>
      object.append({
        deploymentId: logged.deploymentId,
        attemptId: String(attempt.claimed.attempt_id),
        limitsOrganizationId: logged.world.id,
        stackId: logged.stackIds[0],
        offset: 4,
        bytes: new TextEncoder().encode("two\n"),
      }),
    );
    const delays = timers.mock.calls.map(([, delay]) => Number(delay));
    timers.mockRestore();
    // At most that of the next notification, which comes at once after a short time.
    expect(Math.max(0, ...delays)).toBeLessThanOrEqual(2);
    expect(await follower.reads("two")).toBe(true);
    await follower.disconnect();
  });
});

describe("a follower", () => {
  it("that does not read causes no reads of the object, and delays no other", async () => {
    await send(0, "first\n");
    const stalled = await open();
    expect(await stalled.reads("first")).toBe(true);
    const other = await open();
    expect(await other.reads("first")).toBe(true);
    const before = logs.count("read");
    for (let at = 0; at < 20; at += 1) {
      await send(6 + at * 5, `n${String(at).padStart(3, "0")}\n`);
      expect(await other.reads(`n${String(at).padStart(3, "0")}`)).toBe(true);
    }
    expect(logs.count("read") - before).toBeLessThanOrEqual(20);
    const read = logs.count("read");
    expect(await stalled.reads("n019")).toBe(true);
    expect(logs.count("read") - read).toBe(1);
    await Promise.all([stalled.disconnect(), other.disconnect()]);
  });

  it("gets each status of the deployment and of its stacks once", async () => {
    const [first, second] = logged.stackIds;
    const follower = await open();
    await attempt.report(first, { seq: 1, status: "in_progress" });
    await attempt.report(first, { seq: 1, status: "in_progress" });
    expect(await follower.reads(`{"id":"${first}","status":"in_progress"}`)).toBe(true);
    await attempt.report(first, { seq: 2, status: "succeeded" });
    expect(await follower.reads(`{"id":"${first}","status":"succeeded"}`)).toBe(true);
    await attempt.report(second, { seq: 1, status: "failed" });
    expect(await follower.reads(`{"id":"${second}","status":"failed"}`)).toBe(true);
    await attempt.complete("failed");
    await follower.rest();
    const events = await follower.events();
    const statuses = events.filter(({ event }) => event === "status").map(({ data }) => data);
    expect(new Set(statuses).size).toBe(statuses.length);
    expect(JSON.parse(statuses.at(-1) ?? "")).toMatchObject({
      status: "failed",
      stacks: [
        { id: first, status: "succeeded" },
        { id: second, status: "failed" },
      ],
    });
    expect(events.at(-1)).toMatchObject({ event: "end" });
    expect(JSON.parse(events.at(-1)?.data ?? "")).toEqual({ status: "failed", truncated: false });
  });

  it("waits from before the start until the cancellation in the queue", async () => {
    const { id } = await newDeployment(logged.world.client, logged.environmentId, {
      queue: "fifo",
    });
    path = `/v1/deployments/${id}/logs`;
    const follower = await open();
    expect(await follower.reads('"status":"queued"')).toBe(true);
    await logged.world.client.patch(`/v1/deployments/${id}/cancel`);
    expect(await follower.rest()).toMatch(/event: status\n.*"canceled".*\n\nevent: end\n/);
  });

  it("closes its connection to the object when the client disconnects", async () => {
    const [one, two] = [await open(), await open()];
    for (const each of [one, two]) expect(await each.reads("event: status")).toBe(true);
    expect(await followers()).toBe(2);
    await one.disconnect();
    await until(async () => (await followers()) === 1);
    // While it waits for the next event.
    const waiting = two.next();
    await two.disconnect();
    await waiting;
    await until(async () => (await followers()) === 0);
    expect(worker.logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("closes it also through the runtime, and may open as many streams again", async () => {
    const key = logged.world.client.key ?? "";
    const client = new Client(key, (request) => exports.default.fetch(request));
    limitStreams(1);
    for (let times = 0; times < 3; times += 1) {
      const follower = await open({}, client);
      expect(await follower.reads("event: status")).toBe(true);
      expect(await followers()).toBe(1);
      await follower.disconnect();
      await until(async () => (await followers()) === 0);
    }
  });

  it("gets an error instead of more than its streams, also with its sessions", async () => {
    limitStreams(2);
    const { client } = await newKey(logged.world);
    const own = client.via(worker.fetch);
    const [one] = [await open({}, own), await open({}, own)];
    const session = (await signIn({ client })).client.via(worker.fetch);
    for (const caller of [own, session]) {
      const refused = await caller.raw("GET", path, EVENTS);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    }
    await open();
    await one.disconnect();
    await open({}, own);
  });
});

describe("the time of a stream", () => {
  it("ends after 15 minutes without `end`, and Last-Event-ID continues it at the byte", async () => {
    await send(0, "one\ntwo\n");
    const follower = await open();
    expect(await follower.reads("two")).toBe(true);
    passTime(LIMITS.logStreamMs.value);
    expect(await follower.rest()).not.toContain("event: end");
    expect((await follower.events()).at(-1)?.id).toBe("8");
    await send(8, "three\n");
    const next = await open({ "last-event-id": "4" });
    expect(await next.reads("three")).toBe(true);
    expect(next.text).not.toContain("one");
    expect(next.text).toContain("two");
    expect(next.text.startsWith("retry: 1000\n\n")).toBe(true);
    await next.disconnect();
  });

  it.each([
    ["the key is revoked", revokeKey],
    ["the key is narrowed to other scopes", narrowKey(["projects:read", "variables:read"])],
    ["the member is removed from the project", removeFromProject],
    ["the member is removed from the organization", removeFromOrganization],
  ])("ends at the next check when %s", async (_, revoke) => {
    const member = await newViewer();
    const follower = await open({}, member.client.via(worker.fetch));
    await send(0, "before\n");
    expect(await follower.reads("before")).toBe(true);
    await revoke(member);
    await send(7, "after\n");
    passTime(30_000);
    expect(await follower.rest()).not.toContain("after");
    await until(async () => (await followers()) === 0);
  });

  it.each([
    ["the member gets another role in the project", makeContributor],
    ["the key is narrowed to the scope that it needs", narrowKey(["deployments:read"])],
  ])("continues when %s", async (_, change) => {
    const member = await newViewer();
    const follower = await open({}, member.client.via(worker.fetch));
    await follower.reads("event: status");
    await change(member);
    passTime(30_000);
    await send(0, "after\n");
    expect(await follower.reads("after")).toBe(true);
    await follower.disconnect();
  });

  it("asks the database nothing to check a key that is in the cache and has not changed", async () => {
    const follower = await open();
    await send(0, "one\n");
    expect(await follower.reads("one")).toBe(true);
    passTime(31_000);
    // Reads the key again, so that the check finds it in the cache.
    await logged.world.client.get("/v1/projects");
    await send(4, "two\n");
    worker.forget();
    expect(await follower.reads("two")).toBe(true);
    expect(worker.database).toEqual([]);
    expect(worker.objects.map(({ statements }) => statements[0]?.sql)).toEqual(["version"]);
    await follower.disconnect();
  });
});

describe("the rate limit", () => {
  it("counts an open stream once", async () => {
    const { client } = await newKey(logged.world);
    const own = client.via(worker.fetch);
    const remaining = async () =>
      Number((await own.get(path)).headers.get("x-ratelimit-remaining"));
    const before = await remaining();
    const follower = await open({}, own);
    for (let at = 0; at < 5; at += 1) {
      await send(at * 2, `${at}\n`);
      expect(await follower.reads(`"${at}\\n"`)).toBe(true);
    }
    expect(await remaining()).toBe(before - 2);
    await follower.disconnect();
  });

  it("leaves no stream open when it refuses one", async () => {
    const { client } = await newKey(logged.world);
    const own = client.via(worker.fetch);
    const statuses = new Set<number>();
    for (let at = 0; at <= 300; at += 1) {
      const response = await own.raw("GET", path, at < 300 ? {} : EVENTS);
      statuses.add(response.status);
      await response.body?.cancel();
    }
    expect([...statuses]).toEqual([200, 429]);
    const fresh = new Instrumented({ logs: logs.namespace });
    const refused = await client.via(fresh.fetch).raw("GET", path, EVENTS);
    expect(refused.status).toBe(429);
    await until(async () => (await followers()) === 0);
  });

  it("is not used by HEAD, which opens no stream", async () => {
    const { status, headers } = await logged.world.client.raw("HEAD", path, EVENTS);
    expect([status, headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    expect([await followers(), logs.count("fetch")]).toEqual([0, 0]);
  });
});

describe("many followers", () => {
  it(
    "of one log all get every byte",
    async () => {
      const keys = await Promise.all(Array.from({ length: 4 }, () => newKey(logged.world)));
      const all: Follower[] = [];
      for (const { client } of keys) {
        const own = client.via(worker.fetch);
        for (let at = 0; at < env.EFFORT.followers / keys.length; at += 1)
          all.push(await open({}, own));
      }
      const received = all.map((each) => each.rest());
      const lines = 100;
      const numbers = Array.from({ length: lines }, (_, at) => `${String(at).padStart(3, "0")}\n`);
      for (const [at, line] of numbers.entries()) await send(at * 4, line);
      await attempt.complete("failed");
      await Promise.all(received);
      for (const each of all) {
        const events = (await each.events()).filter(({ event }) => event === "message");
        expect(events.map(({ data }) => JSON.parse(data).text)).toEqual(numbers);
      }
    },
    LONG_MS,
  );
});

async function newViewer(): Promise<Person> {
  const member = await join(logged.world);
  const members = `/v1/projects/${logged.projectId}/members`;
  const body = { member_ids: [member.membershipId], role: "viewer" };
  expect((await logged.world.client.post(members, body)).status).toBe(201);
  return member;
}

async function makeContributor({ membershipId }: Person): Promise<void> {
  const path = `/v1/projects/${logged.projectId}/members/${membershipId}`;
  expect((await logged.world.client.put(path, { role: "contributor" })).status).toBe(200);
}

function narrowKey(scopes: readonly string[]): (person: Person) => Promise<void> {
  return async ({ keyId }) => {
    const path = `/v1/orgs/${logged.world.id}/api-keys/${keyId}`;
    expect((await logged.world.client.patch(path, { scopes })).status).toBe(200);
  };
}

async function revokeKey({ keyId }: Person): Promise<void> {
  const reply = await logged.world.client.delete(`/v1/orgs/${logged.world.id}/api-keys/${keyId}`);
  expect(reply.status).toBe(204);
}

async function removeFromProject({ membershipId }: Person): Promise<void> {
  const members = `/v1/projects/${logged.projectId}/members`;
  expect((await logged.world.client.delete(`${members}/${membershipId}`)).status).toBe(204);
}

async function removeFromOrganization({ membershipId }: Person): Promise<void> {
  const members = `/v1/orgs/${logged.world.id}/members`;
  expect((await logged.world.client.delete(`${members}/${membershipId}`)).status).toBe(204);
}
