import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  passTime,
  start,
  WatchedLogs,
} from "../../support/log-harness.ts";
import { Attempt } from "../../support/runner.ts";

const MINUTE_MS = 60_000;
const LOST_MS = 7 * MINUTE_MS;
const ENDED = /^The attempt has ended/;

let logged: LoggedDeployment;
let attempt: Attempt;
let client: Client;
let path: string;

beforeEach(async () => {
  // Waits for what the Worker does in the background.
  logged = await newLoggedDeployment(new Instrumented().fetch);
  attempt = await start(logged);
  ({ client } = logged.world);
  path = `/v1/deployments/${logged.deploymentId}/logs`;
});

const send = (offset: number | string, body: string | Uint8Array, headers = {}, stack: 0 | 1 = 0) =>
  append(logged, attempt, { stackId: logged.stackIds[stack], offset, body }, headers);
const page = async (query = "") => (await client.get(`${path}${query}`)).body;
const text = async () => (await client.get(path, { accept: "text/plain" })).text;
const isPending = () =>
  env.DB.prepare("select log_pending from attempts where id = ?")
    .bind(attempt.claimed.attempt_id)
    .first("log_pending");

describe("the end of a log", () => {
  it("is at once if nothing is declared", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: false });
    const { status, headers, body } = await send(3, "d");
    expect([status, headers.get("deployment-desired")]).toEqual([409, "stop"]);
    expect(body.message).toMatch(ENDED);
    expect((await send(1, "bc")).status).toBe(200);
  });

  it("is after ten minutes if declared bytes are missing, and the log is truncated", async () => {
    passTime(0);
    await send(0, "abc");
    await attempt.complete("failed", { log: await declare("abcdef") });
    passTime(10 * MINUTE_MS - 1);
    await runDurableObjectAlarm(logObject(logged.deploymentId));
    expect((await send(3, "d")).body).toEqual({ next_offset: 4 });
    expect(await page()).toMatchObject({ status: "open", truncated: false });
    passTime(1);
    expect(await runDurableObjectAlarm(logObject(logged.deploymentId))).toBe(true);
    await expect
      .poll(() => page())
      .toMatchObject({ status: "sealed", truncated: true, next_offset: 4 });
    expect((await send(4, "ef")).status).toBe(409);
    expect(await text()).toBe("abcd");
  });

  it("keeps no more than the declared bytes", async () => {
    await attempt.complete("failed", { log: await declare("abc") });
    expect((await send(0, "abcdef")).status).toBe(200);
    await expect
      .poll(() => page())
      .toMatchObject({ status: "sealed", truncated: false, next_offset: 3 });
    expect(await text()).toBe("abc");
  });

  it("shows as truncated if the bytes differ from the declaration", async () => {
    await send(0, "abc");
    await attempt.complete("failed", { log: await declare("abd") });
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: true });
    expect(await text()).toBe("abc");
  });

  it("shows as truncated if more bytes have arrived than are declared", async () => {
    await send(0, "abcd");
    await attempt.complete("failed", { log: await declare("abc") });
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: true });
  });

  it("comes when the runner is lost", async () => {
    await send(0, "abc");
    passTime(LOST_MS);
    await new Instrumented().sweep();
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: false });
    expect((await send(3, "d")).status).toBe(409);
  });

  it("comes also for a log without bytes", async () => {
    expect(await page()).toMatchObject({ status: "open", data: [] });
    await attempt.complete("failed");
    await expect
      .poll(() => page())
      .toMatchObject({ status: "sealed", truncated: false, next_offset: 0 });
    expect((await send(0, "a")).status).toBe(409);
  });
});

describe("a log that is not told of the end", () => {
  let logs: WatchedLogs;

  beforeEach(() => {
    logs = new WatchedLogs();
    const worker = new Instrumented({ logs: logs.namespace });
    attempt = new Attempt(logged.runner.via(worker.fetch), attempt.claimed);
    logs.fault = (method) => (method === "refresh" ? "before" : undefined);
  });

  it("is sealed by the next sweep, and by no other", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    expect(logs.count("refresh")).toBe(2);
    expect(await page()).toMatchObject({ status: "open" });
    // A sweep tells some of the logs, which may be those of other tests.
    await env.DB.prepare("update attempts set log_pending = 0 where id <> ?")
      .bind(attempt.claimed.attempt_id)
      .run();
    const failing = new Instrumented({ logs: logs.namespace });
    await failing.sweep();
    expect([await isPending(), (await page()).status]).toEqual([1, "open"]);
    await new Instrumented().sweep();
    expect([await isPending(), (await page()).status]).toEqual([0, "sealed"]);
    const before = logs.count("refresh");
    await failing.sweep();
    expect(logs.count("refresh")).toBe(before);
  });

  it("takes declared bytes also if they are the first", async () => {
    await attempt.complete("failed", { log: await declare("abc") });
    expect((await send(0, "abc")).body).toEqual({ next_offset: 3 });
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: false });
    expect(await text()).toBe("abc");
  });

  it("takes no first bytes that are not declared, or that are late", async () => {
    const late = await newLoggedDeployment();
    const worker = new Instrumented({ logs: logs.namespace });
    const lateAttempt = new Attempt(late.runner.via(worker.fetch), (await start(late)).claimed);
    // From here on, the clock moves only by what the test says, also if that of the machine is set back.
    passTime(0);
    await lateAttempt.complete("failed", { log: await declare("abc") });
    await attempt.complete("failed");
    expect((await send(0, "abc")).status).toBe(409);
    passTime(10 * MINUTE_MS);
    const input = { stackId: late.stackIds[0], offset: 0, body: "abc" };
    expect((await append(late, lateAttempt, input)).status).toBe(409);
  });

  it("finds out by its alarm, a day after the longest run", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    passTime((LIMITS.maximumRunSeconds.value + 24 * 3_600) * 1_000);
    expect(await runDurableObjectAlarm(logObject(logged.deploymentId))).toBe(true);
    await expect.poll(() => page()).toMatchObject({ status: "sealed", truncated: false });
  });
});
