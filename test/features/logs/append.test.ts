import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { CLOSING_LINES } from "../../../src/features/deployments/logs/model.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  passTime,
  start,
} from "../../support/log-harness.ts";
import { Attempt } from "../../support/runner.ts";
import { newDeployment, newInside, newPool, newProject } from "../../support/world.ts";

const CHUNK = LIMITS.logChunkBytes.value;
const LIMIT = LIMITS.logBytes.value;
const CLOSING_LINE = CLOSING_LINES.ofLog;
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
const chunkCount = () =>
  runInDurableObject(logObject(logged.deploymentId), (_, { storage }) =>
    storage.sql.exec("select count(*) as n from chunks").one(),
  );

describe("the offset of an append", () => {
  it("is refused with the next offset if it is ahead, and is then accepted from there", async () => {
    expect(await send(1, "x")).toMatchObject({
      status: 409,
      body: { code: "conflict", cause: { next_offset: 0 } },
    });
    await send(0, "abc");
    const { body, headers } = await send(5, "fg");
    expect(body.cause).toEqual({ next_offset: 3 });
    expect(headers.get("deployment-desired")).toBe("continue");
    expect((await send(3, "defg")).body).toEqual({ next_offset: 7 });
    expect(await text()).toBe("abcdefg");
  });

  it("may be behind: bytes that the log has are ignored, also if they differ", async () => {
    await send(0, "abcdef");
    expect((await send(0, "abcdef")).body).toEqual({ next_offset: 6 });
    expect((await send(2, "XY", {}, 1)).body).toEqual({ next_offset: 6 });
    expect((await send(4, "XYgh")).body).toEqual({ next_offset: 8 });
    expect(await text()).toBe("abcdefgh");
  });

  it.each(["-1", "1.5", "x", "", "%2B1", "1e3", "9".repeat(16)])("is not %j", async (offset) => {
    const { status, body } = await send(offset, "x");
    expect(status).toBe(400);
    expect(body.cause.issues).toMatchObject([{ path: "offset" }]);
    expect(await page()).toMatchObject({ next_offset: 0 });
  });

  it("is ahead also far beyond the cap", async () => {
    for (const offset of [LIMIT + 1, 999_999_999_999_999]) {
      const { status, body } = await send(offset, "x");
      expect([status, body.cause]).toEqual([409, { next_offset: 0 }]);
    }
  });
});

describe("the body of an append", () => {
  it("has at most 256 KiB", async () => {
    expect((await send(0, "x".repeat(CHUNK + 1))).status).toBe(400);
    expect((await send(0, "x".repeat(CHUNK))).body).toEqual({ next_offset: CHUNK });
    expect(await chunkCount()).toEqual({ n: 1 });
  });

  it("is text, with any parameter", async () => {
    for (const type of ["application/json", "application/octet-stream", "text/html", ""]) {
      expect((await send(0, "{}", { "content-type": type })).status).toBe(400);
    }
    const type = "Text/Plain ; charset=latin1";
    expect((await send(0, "{}", { "content-type": type })).status).toBe(200);
  });

  it("may be empty, which changes nothing and shows how far the log goes", async () => {
    expect((await send(0, "")).body).toEqual({ next_offset: 0 });
    await send(0, "ab");
    expect((await send(1, "")).body).toEqual({ next_offset: 2 });
    expect((await send(3, "")).status).toBe(409);
    expect(await chunkCount()).toEqual({ n: 1 });
  });

  it("is kept unchanged if it is not UTF-8, and is shown with U+FFFD", async () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x00, 0xc3, 0x28, 0xe2, 0x82, 0x0a);
    await send(0, bytes);
    const response = await client.raw("GET", path, { accept: "text/plain" });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect((await page()).data).toMatchObject([{ text: "a\ufffd\0\ufffd(\ufffd\n" }]);
  });
});

describe("who appends", () => {
  it("names a stack of the deployment", async () => {
    const project = await newProject(client);
    const foreign = await newInside(client, String(project.default_environment_id));
    for (const stackId of [String(foreign["stack_id"]), "nonsense"]) {
      expect((await append(logged, attempt, { stackId, offset: 0, body: "x" })).status).toBe(404);
    }
    expect(await page()).toMatchObject({ next_offset: 0 });
    expect((await send(0, "x", {}, 1)).status).toBe(200);
  });

  it("is a runner of the pool", async () => {
    const other = await newLoggedDeployment();
    const { default_environment_id } = await newProject(client);
    const foreign = await newPool(logged.world, [default_environment_id]);
    await send(0, "ab");
    for (const runner of [other.runner, foreign.runner]) {
      const stackId = logged.stackIds[0];
      const { status, headers } = await append({ runner }, attempt, {
        stackId,
        offset: 2,
        body: "x",
      });
      expect([status, headers.get("deployment-desired")]).toEqual([404, "stop"]);
    }
    expect(await text()).toBe("ab");
  });

  it("has the lease token of the attempt", async () => {
    const other = await newLoggedDeployment();
    const { claimed } = await start(other);
    await send(0, "ab");
    for (const token of [claimed.lease_token, "", "0".repeat(64)]) {
      const { status, headers } = await send(2, "x", { "lease-token": token });
      expect([status, headers.get("deployment-desired")]).toEqual([409, "stop"]);
    }
    expect(await text()).toBe("ab");
  });

  it("has started the attempt", async () => {
    const offered = await newLoggedDeployment();
    const claim = await Attempt.claim(offered.runner);
    const input = { stackId: offered.stackIds[0], offset: 0, body: "x" };
    const { status, body, headers } = await append(offered, claim, input);
    expect([status, headers.get("deployment-desired")]).toEqual([409, "continue"]);
    expect(body.message).toBe("Start the attempt first.");
    await claim.post("start");
    expect((await append(offered, claim, input)).status).toBe(200);
  });

  it("is not the holder of an offer that was given back", async () => {
    const offered = await newLoggedDeployment();
    const zombie = await Attempt.claim(offered.runner);
    await zombie.post("release");
    const input = { stackId: offered.stackIds[0], offset: 0, body: "x" };
    for (const next of [undefined, await start(offered)]) {
      const { status, body } = await append(offered, zombie, input);
      expect([status, body.message]).toEqual([409, expect.stringMatching(ENDED)]);
      if (next) expect((await append(offered, next, input)).status).toBe(200);
    }
  });

  it("is told to cancel while the deployment is canceling, and to stop after its end", async () => {
    const desired = async (offset: number) =>
      (await send(offset, "x")).headers.get("deployment-desired");
    expect(await desired(0)).toBe("continue");
    await client.patch(`/v1/deployments/${logged.deploymentId}/cancel`);
    expect(await desired(1)).toBe("cancel");
    await attempt.complete("canceled", { log: await declare("xxx") });
    expect(await desired(2)).toBe("stop");
    expect(await desired(3)).toBe("stop");
  });
});

describe("the database", () => {
  it("is asked once for an attempt that the isolate does not know, and then never", async () => {
    const worker = new Instrumented();
    logged.runner = logged.runner.via(worker.fetch);
    await logged.runner.request("GET", "/v1/runner/attempts");
    const counts: number[] = [];
    for (const offset of [0, 1, 2]) {
      worker.forget();
      expect((await send(offset, "x")).status).toBe(200);
      counts.push(worker.database.length);
    }
    expect(counts).toEqual([1, 0, 0]);
  });
});

describe("a log over the cap", () => {
  it("ends with one line, takes further bytes without keeping them, and is truncated", async () => {
    const chunk = new Uint8Array(CHUNK).fill(0x61);
    for (let offset = 0; offset < LIMIT - CHUNK; offset += CHUNK) await send(offset, chunk);
    expect((await send(LIMIT - CHUNK, chunk.subarray(1))).body.next_offset).toBe(LIMIT - 1);
    expect((await send(LIMIT - 1, "bc\n")).body).toEqual({ next_offset: LIMIT + 2 });
    expect((await send(LIMIT + 2, "more\n", {}, 1)).body).toEqual({ next_offset: LIMIT + 7 });
    expect((await send(LIMIT - 1, "bc\nmore\n")).status).toBe(200);
    expect((await send(5 * LIMIT, "far")).body).toEqual({ next_offset: 5 * LIMIT + 3 });
    const whole = await text();
    expect(whole.length).toBe(LIMIT + CLOSING_LINE.length);
    expect(whole.endsWith(`aab${CLOSING_LINE}`)).toBe(true);
    const log = { size: LIMIT + 7, sha256: "0".repeat(64) };
    expect((await attempt.complete("failed", { log })).status).toBe(200);
    await expect
      .poll(() => page(`?after=${LIMIT}`))
      .toMatchObject({ status: "sealed", truncated: true });
  });

  it("is not truncated if it has exactly so many bytes", async () => {
    const chunk = new Uint8Array(CHUNK).fill(0x62);
    for (let offset = 0; offset < LIMIT; offset += CHUNK) await send(offset, chunk);
    const log = await declare("b".repeat(LIMIT));
    await attempt.complete("failed", { log });
    const after = await page(`?after=${LIMIT}`);
    expect(after).toMatchObject({ status: "sealed", truncated: false });
    expect(after.data.map((line: Parsed) => line.text).join("")).toBe(CLOSING_LINE);
  });
});

describe("the log of a deployment", () => {
  it("is gone 30 days after the end", async () => {
    const log = logObject(logged.deploymentId);
    passTime(0);
    await send(0, "abc");
    await attempt.complete("failed");
    await new Instrumented().sweep();
    passTime(LIMITS.logRetentionMs.value - 1);
    await runDurableObjectAlarm(log);
    await expect.poll(() => page()).toMatchObject({ status: "sealed", next_offset: 3 });
    passTime(1);
    expect(await runDurableObjectAlarm(log)).toBe(true);
    expect(await page()).toMatchObject({ status: "none", data: [], next_offset: 0 });
    expect(await text()).toBe("");
    expect((await send(0, "abc")).status).toBe(409);
    expect(await storedNames(logged.deploymentId)).toEqual([]);
  });

  it("is deleted with its project, and no other", async () => {
    const kept = await newLoggedDeployment();
    const keptAttempt = await start(kept);
    await append(kept, keptAttempt, { stackId: kept.stackIds[1], offset: 0, body: "kept" });
    await send(0, "abc");
    await attempt.complete("failed");
    const deleted = await client.delete(`/v1/projects/${logged.projectId}`);
    expect(deleted.status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
    for (let runs = 0; (await storedNames(logged.deploymentId)).length > 0; runs += 1) {
      expect(runs).toBeLessThan(10);
      await new Instrumented().sweep();
    }
    expect(await storedNames(kept.deploymentId)).toContain("chunks");
    const keptPath = `/v1/deployments/${kept.deploymentId}/logs`;
    expect((await kept.world.client.get(keptPath, { accept: "text/plain" })).text).toBe("kept");
  });

  it("does not exist if the deployment was canceled before a runner started it", async () => {
    const { id } = await newDeployment(client, logged.environmentId, { queue: "fifo" });
    const other = `/v1/deployments/${id}/logs`;
    expect((await client.get(other)).body).toMatchObject({ status: "pending", data: [] });
    await client.patch(`/v1/deployments/${id}/cancel`);
    expect((await client.get(other)).body).toMatchObject({ status: "none", data: [] });
    const stream = await client.raw("GET", other, { accept: "text/event-stream" });
    const events = await stream.text();
    expect(events).toContain("event: status\n");
    expect(events).toContain('event: end\ndata: {"status":"canceled","truncated":false}\n\n');
    expect(await storedNames(String(id))).toEqual([]);
  });
});

describe("a reader", () => {
  it("does not start beyond the end", async () => {
    await send(0, "abc");
    for (const accept of ["application/json", "text/plain", "text/event-stream"]) {
      const { status, body } = await client.get(`${path}?after=4`, { accept });
      expect([status, body.cause.issues[0].path]).toEqual([400, "after"]);
    }
    expect(await page("?after=3")).toMatchObject({ data: [], next_offset: 3, has_more: false });
  });

  it.each(["4", "-1", "x", ""])("does not continue after the event %j", async (id) => {
    await send(0, "abc");
    const headers = { accept: "text/event-stream", "last-event-id": id };
    expect((await client.get(path, headers)).status).toBe(400);
  });

  it("names a stack of the deployment", async () => {
    const project = await newProject(client);
    const foreign = await newInside(client, String(project.default_environment_id));
    for (const accept of ["application/json", "text/plain", "text/event-stream"]) {
      const query = `?stack_id=${foreign["stack_id"]}`;
      expect((await client.get(`${path}${query}`, { accept })).status).toBe(404);
    }
  });

  it("is of the organization", async () => {
    const other = await newLoggedDeployment();
    await send(0, "abc");
    for (const accept of ["application/json", "text/plain", "text/event-stream"]) {
      expect((await other.world.client.get(path, { accept })).status).toBe(404);
    }
  });
});

function storedNames(deploymentId: string): Promise<unknown[]> {
  return runInDurableObject(logObject(deploymentId), (_, { storage }) =>
    storage.sql
      .exec("select name from sqlite_master where name in ('log', 'chunks')")
      .toArray()
      .map(({ name }) => name),
  );
}
