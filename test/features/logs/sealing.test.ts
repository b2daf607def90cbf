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
/** Moves the clock, also that of the object, until the test finishes. */
function passTime(ms: number): void {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(now + ms);
}

describe("a log", () => {
  it("accepts missing bytes for ten minutes, no more than declared, also after an eviction", async () => {
    await send(0, "abc");
    await attempt.succeed({ log: await declare("abcdef") });
    await evictDurableObject(object());
    passTime(LIMITS.logSealsMs.value - 1_000);
    await runDurableObjectAlarm(object());
    expect(await page()).toMatchObject({ status: "open" });
    expect((await send(3, "defghi")).status).toBe(200);
    await expect
      .poll(() => page())
      .toMatchObject({ status: "sealed", truncated: false, next_offset: 6 });
  });

  it("of an attempt whose row is deleted is sealed by its alarm", async () => {
    await send(0, "abc");
    await env.DB.prepare("delete from attempts where id = ?")
      .bind(attempt.claimed.attempt_id)
      .run();
    passTime(LIMITS.maximumRunSeconds.value * 1_000 + 2 * 86_400_000);
    await runDurableObjectAlarm(object());
    await expect.poll(() => page()).toMatchObject({ status: "sealed", next_offset: 3 });
  });
});

describe("the purge", () => {
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
    // The sweep purges records of other tests, too.
    for (let sweeps = 0; (await count()) === 1 && sweeps < 50; sweeps += 1) await worker.sweep();
    expect([await count(), await storedKeys()]).toEqual([0, []]);
  });
});
