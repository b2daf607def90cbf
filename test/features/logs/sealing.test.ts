import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  readEvents,
  start,
} from "../../support/log-harness.ts";
import type { Attempt } from "../../support/runner.ts";

let worker: Instrumented;
let logged: LoggedDeployment;
let attempt: Attempt;

beforeEach(async () => {
  worker = new Instrumented();
  logged = await newLoggedDeployment(worker.fetch);
  attempt = await start(logged);
});

const send = (offset: number, body: string) =>
  append(logged, attempt, { stackId: logged.stackIds[0], offset, body });
const path = () => `/v1/deployments/${logged.deploymentId}/logs`;
const page = async () => (await logged.world.client.get(path())).body;
const object = () => logObject(logged.deploymentId);
const storedKeys = () =>
  runInDurableObject(object(), (_, { storage }) =>
    storage.sql.exec("select name from sqlite_master where name in ('log', 'chunks')").toArray(),
  );
const isPending = () =>
  env.DB.prepare("select log_pending from attempts where id = ?")
    .bind(attempt.claimed.attempt_id)
    .first<number>("log_pending");

/** Moves the clock, also that of the object, until the test finishes. */
function passTime(ms: number): void {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(now + ms);
}

/** Makes each call of `refresh` fail from now on, until the returned function is called. */
function loseSignals(): () => void {
  const { getByName } = env.ATTEMPT_LOG;
  const failing = vi.spyOn(env.ATTEMPT_LOG, "getByName").mockImplementation((name) => {
    const stub = getByName.call(env.ATTEMPT_LOG, name);
    return new Proxy(stub, {
      get: (target, property) => {
        if (property === "refresh") return () => Promise.reject(new Error("The signal is lost"));
        const stubOf = target as unknown as Record<
          string | symbol,
          (...args: unknown[]) => unknown
        >;
        return (...args: unknown[]) => stubOf[property]?.(...args);
      },
    });
  });
  onTestFinished(() => failing.mockRestore());
  return () => failing.mockRestore();
}

/** A sweep tells some of the logs, which may be those of other tests. */
async function sweepUntilTold(): Promise<void> {
  for (let sweeps = 0; (await isPending()) === 1; sweeps += 1) {
    if (sweeps === 50) throw new Error("The sweep does not tell the log");
    await worker.sweep();
  }
}

describe("a log", () => {
  it("of which nothing was declared is sealed at the end of its attempt", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    expect(await page()).toMatchObject({ status: "sealed", truncated: false, next_offset: 3 });
  });

  it("that has what was declared is sealed at the end of its attempt", async () => {
    await send(0, "abc");
    await attempt.complete("failed", { log: await declare("abc") });
    expect(await page()).toMatchObject({ status: "sealed", truncated: false });
  });

  it.each(["xyz", "abcd", "ab", ""])(
    "that differs from the declared %j is truncated",
    async (declared) => {
      await send(0, "abc");
      await attempt.complete("failed", { log: await declare(declared) });
      passTime(LIMITS.logSealsMs.value + 1_000);
      await runDurableObjectAlarm(object());
      expect(await page()).toMatchObject({ status: "sealed", truncated: true });
    },
  );

  it("accepts missing bytes for ten minutes, no more than declared, also after an eviction", async () => {
    await send(0, "abc");
    await attempt.complete("succeeded", { log: await declare("abcdef") });
    await evictDurableObject(object());
    passTime(LIMITS.logSealsMs.value - 1_000);
    await runDurableObjectAlarm(object());
    expect(await page()).toMatchObject({ status: "open" });
    expect((await send(3, "defghi")).status).toBe(200);
    expect(await page()).toMatchObject({ status: "sealed", truncated: false, next_offset: 6 });
  });

  it("accepts nothing after ten minutes", async () => {
    await send(0, "abc");
    await attempt.complete("succeeded", { log: await declare("abcdef") });
    passTime(LIMITS.logSealsMs.value + 1_000);
    await runDurableObjectAlarm(object());
    expect((await send(3, "def")).status).toBe(409);
    expect(await page()).toMatchObject({ status: "sealed", truncated: true, next_offset: 3 });
  });

  it("is sealed when its runner is lost", async () => {
    await send(0, "abc");
    passTime(400_000);
    await worker.sweep();
    expect(await page()).toMatchObject({ status: "sealed", truncated: false });
    expect((await send(3, "def")).status).toBe(409);
  });

  it("that was not told of the end is told by the next sweep, once", async () => {
    await send(0, "abc");
    const restore = loseSignals();
    await attempt.complete("failed");
    expect(await page()).toMatchObject({ status: "open" });
    await worker.sweep();
    expect([await isPending(), (await page()).status]).toEqual([1, "open"]);
    restore();
    await sweepUntilTold();
    expect((await page()).status).toBe("sealed");
  });

  it("of an attempt whose row is deleted is sealed by its alarm", async () => {
    await send(0, "abc");
    await env.DB.prepare("delete from attempts where id = ?")
      .bind(attempt.claimed.attempt_id)
      .run();
    passTime(LIMITS.maximumRunSeconds.value * 1_000 + 2 * 86_400_000);
    await runDurableObjectAlarm(object());
    expect(await page()).toMatchObject({ status: "sealed", next_offset: 3 });
  });

  it("is kept for 30 days after the end, and then deletes itself", async () => {
    await send(0, "abc");
    await attempt.complete("failed", { log: await declare("abc") });
    await sweepUntilTold();
    const ended = Date.now();
    const alarm = await runInDurableObject(object(), (_, { storage }) => storage.getAlarm());
    expect(Math.abs(Number(alarm) - ended - LIMITS.logRetentionMs.value)).toBeLessThan(60_000);
    passTime(LIMITS.logRetentionMs.value - 60_000);
    await runDurableObjectAlarm(object());
    expect(await storedKeys()).toHaveLength(2);
    vi.setSystemTime(ended + LIMITS.logRetentionMs.value + 60_000);
    await runDurableObjectAlarm(object());
    expect(await storedKeys()).toEqual([]);
    expect(await page()).toMatchObject({ data: [], status: "none" });
  });
});

describe("the purge", () => {
  it("deletes the logs of a deleted project, and no others", async () => {
    const other = await newLoggedDeployment(worker.fetch);
    const otherAttempt = await start(other);
    await append(other, otherAttempt, { stackId: other.stackIds[1], offset: 0, body: "kept" });
    await otherAttempt.complete("failed");
    await send(0, "abc");
    await attempt.complete("failed");
    const { body } = await logged.world.client.get(`/v1/environments/${logged.environmentId}`);
    await logged.world.client.delete(`/v1/projects/${body.project_id}`);
    expect((await logged.world.client.get(path())).status).toBe(404);
    expect(await storedKeys()).toHaveLength(2);
    await worker.sweep();
    await worker.sweep();
    expect(await storedKeys()).toEqual([]);
    const { text } = await other.world.client.get(`/v1/deployments/${other.deploymentId}/logs`, {
      accept: "text/plain",
    });
    expect(text).toBe("kept");
  });

  it("keeps the deployment of a log that cannot be deleted, and tries again", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    const { body } = await logged.world.client.get(`/v1/environments/${logged.environmentId}`);
    await logged.world.client.delete(`/v1/projects/${body.project_id}`);
    const erase = vi.spyOn(env.ATTEMPT_LOG, "getByName").mockImplementation(() => {
      throw new Error("The object is not reachable");
    });
    await worker.sweep();
    erase.mockRestore();
    const count = () =>
      env.DB.prepare("select count(*) as n from deployments where id = ?")
        .bind(logged.deploymentId)
        .first<number>("n");
    expect(await count()).toBe(1);
    await worker.sweep();
    await worker.sweep();
    expect([await count(), await storedKeys()]).toEqual([0, []]);
  });
});

describe("a deployment that never starts", () => {
  it("has no log, and its followers learn how it ends", async () => {
    const queued = await newLoggedDeployment(worker.fetch);
    const queuedPath = `/v1/deployments/${queued.deploymentId}/logs`;
    const response = await queued.world.client.raw("GET", queuedPath, {
      accept: "text/event-stream",
    });
    const events = readEvents(response.body as ReadableStream<Uint8Array>);
    expect((await events.next()).value?.data).toContain('"status":"queued"');
    await queued.world.client.patch(`/v1/deployments/${queued.deploymentId}/cancel`);
    const rest: string[] = [];
    for await (const { event, data } of events) rest.push(`${event} ${JSON.parse(data).status}`);
    expect(rest).toEqual(["status canceled", "end canceled"]);
    const { body } = await queued.world.client.get(queuedPath);
    expect(body).toMatchObject({ data: [], status: "none", truncated: false });
  });
});
