import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Client, type Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  newLoggedDeployment,
  start,
} from "../../support/log-harness.ts";
import { Attempt } from "../../support/runner.ts";

const LIMIT = LIMITS.logBytes.value;
const CHUNK = LIMITS.logChunkBytes.value;

let worker: Instrumented;
let logged: LoggedDeployment;
let attempt: Attempt;

beforeEach(async () => {
  worker = new Instrumented();
  logged = await newLoggedDeployment(worker.fetch);
  attempt = await start(logged);
});

const send = (offset: number | string, body: string | Uint8Array, headers = {}) =>
  append(logged, attempt, { stackId: logged.stackIds[0], offset, body }, headers);
const path = () => `/v1/deployments/${logged.deploymentId}/logs`;
const bytes = async () => {
  const response = await logged.world.client.raw("GET", path(), { accept: "text/plain" });
  return new Uint8Array(await response.arrayBuffer());
};
const text = async () => new TextDecoder().decode(await bytes());
const page = async () => (await logged.world.client.get(path())).body;
const refusal = ({ status, body }: { status: number; body: Parsed }) => [status, body.message];

describe("an append", () => {
  it("ahead of the log is a conflict, which says where to continue, and stores nothing", async () => {
    await send(0, "abc");
    const { status, headers, body } = await send(4, "e");
    expect([status, body.code, body.cause]).toEqual([409, "conflict", { next_offset: 3 }]);
    expect(headers.get("deployment-desired")).toBe("continue");
    expect(await text()).toBe("abc");
  });

  it("behind the log adds only the bytes that it lacks, and keeps those that it has", async () => {
    await send(0, "abcdef");
    expect((await send(2, "XYZ")).body).toEqual({ next_offset: 6 });
    expect((await send(4, "XYgh")).body).toEqual({ next_offset: 8 });
    expect((await send(0, "abcdefgh")).body).toEqual({ next_offset: 8 });
    expect(await text()).toBe("abcdefgh");
  });

  it("without bytes returns where to continue", async () => {
    await send(0, "abc");
    expect((await send(0, "")).body).toEqual({ next_offset: 3 });
    expect((await send(3, "")).body).toEqual({ next_offset: 3 });
    expect(await text()).toBe("abc");
  });

  it.each(["-1", "1.5", "1e3", "x", "", "9999999999999999"])(
    "at the offset %s is refused",
    async (offset) => {
      const reply = await send(offset, "abc");
      expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
      expect(reply.body.message).toContain("offset");
    },
  );

  it("has at most 256 KiB", async () => {
    expect((await send(0, new Uint8Array(CHUNK).fill(97))).body).toEqual({ next_offset: CHUNK });
    const tooLarge = await send(CHUNK, new Uint8Array(CHUNK + 1).fill(97));
    expect(refusal(tooLarge)).toEqual([400, "The body is over 256 KiB; send less."]);
    expect((await page()).next_offset).toBeLessThanOrEqual(CHUNK);
    expect((await bytes()).length).toBe(CHUNK);
  });

  it("is text/plain, with or without parameters", async () => {
    for (const type of ["application/json", "application/octet-stream", "text/html", ""]) {
      expect(refusal(await send(0, "abc", { "content-type": type }))).toEqual([
        400,
        "Send the body with content-type: text/plain.",
      ]);
    }
    const type = { "content-type": "Text/Plain ; charset=utf-8" };
    expect((await send(0, "abc", type)).status).toBe(200);
  });

  it("keeps bytes that are not UTF-8 unchanged; JSON shows U+FFFD", async () => {
    const sent = new Uint8Array([0x61, 0xff, 0xc3, 0x0a, 0xe2, 0x82, 0x00, 0x0a]);
    await send(0, sent);
    expect(await bytes()).toEqual(sent);
    const { data } = await page();
    expect(data.map((line: Parsed) => line.text)).toEqual(["a\ufffd\ufffd\n", "\ufffd\u0000\n"]);
  });

  it("of a stack that the deployment lacks is not found", async () => {
    const { body: other } = await logged.world.client.post(
      `/v1/environments/${logged.environmentId}/stacks`,
      { name: "later" },
    );
    const missing = { stackId: other.id, offset: 0, body: "abc" };
    expect((await append(logged, attempt, missing)).status).toBe(404);
    expect(await text()).toBe("");
  });

  it("needs the lease token of its own attempt; an attempt of another pool is not found", async () => {
    const other = await newLoggedDeployment(worker.fetch);
    const foreign = await start(other);
    const withToken = (token: string) => send(0, "abc", { "lease-token": token });
    expect((await withToken(foreign.claimed.lease_token)).status).toBe(409);
    expect((await withToken("")).status).toBe(409);
    const chunk = { stackId: other.stackIds[0], offset: 0, body: "abc" };
    expect((await append(logged, foreign, chunk)).status).toBe(404);
    const unleased = new Attempt(logged.runner, { ...foreign.claimed, lease_token: "" });
    expect((await append(logged, unleased, chunk)).status).toBe(404);
    const anonymous = { runner: new Client(logged.world.client.key, worker.fetch) };
    expect((await append(anonymous, attempt, chunk)).status).toBe(401);
    expect(await text()).toBe("");
  });

  it("reads the database once for an attempt, and never again", async () => {
    worker.forget();
    await send(0, "abc");
    expect(worker.database).toHaveLength(1);
    worker.forget();
    await send(3, "def");
    expect(worker.database).toEqual([]);
  });
});

describe("an attempt", () => {
  it("that is only offered has no log", async () => {
    const offered = await newLoggedDeployment(worker.fetch);
    const claimed = await Attempt.claim(offered.runner);
    const chunk = { stackId: offered.stackIds[0], offset: 0, body: "abc" };
    expect(refusal(await append(offered, claimed, chunk))).toEqual([
      409,
      "Start the attempt first.",
    ]);
    await claimed.post("start");
    expect((await append(offered, claimed, chunk)).status).toBe(200);
  });

  it("that has ended appends nothing, but may repeat what it has sent", async () => {
    await send(0, "abc");
    await attempt.complete("failed");
    const late = await send(3, "def");
    expect(refusal(late)).toEqual([
      409,
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ]);
    expect(late.headers.get("deployment-desired")).toBe("stop");
    expect((await send(0, "abc")).body).toEqual({ next_offset: 3 });
    expect(await text()).toBe("abc");
  });

  it("that ends before its first output starts no log afterwards", async () => {
    await attempt.complete("succeeded");
    expect((await send(0, "abc")).status).toBe(409);
    expect(await page()).toMatchObject({ data: [], status: "sealed", truncated: false });
  });

  it("is told to cancel while its deployment is canceling", async () => {
    expect((await send(0, "a")).headers.get("deployment-desired")).toBe("continue");
    await logged.world.client.patch(`/v1/deployments/${logged.deploymentId}/cancel`);
    expect((await send(1, "b")).headers.get("deployment-desired")).toBe("cancel");
    await attempt.complete("canceled", { log: await declare("abc") });
    expect((await send(2, "c")).headers.get("deployment-desired")).toBe("stop");
  });
});

describe("a log of 16 MiB", () => {
  const fill = async (until: number) => {
    for (let offset = 0; offset < until; offset += CHUNK) {
      const body = new Uint8Array(Math.min(CHUNK, until - offset)).fill(97);
      expect((await send(offset, body)).body).toEqual({ next_offset: offset + body.length });
    }
  };

  it("closes with one line, and discards what follows without a refusal", async () => {
    await fill(LIMIT - 2);
    expect((await send(LIMIT - 2, "bcdef")).body).toEqual({ next_offset: LIMIT + 3 });
    expect((await send(LIMIT + 3, "more")).body).toEqual({ next_offset: LIMIT + 7 });
    expect((await send(LIMIT + 1_000, "ahead")).body).toEqual({ next_offset: LIMIT + 1_005 });
    const shown = await text();
    const closing = `\n[The log has ${LIMIT} bytes. What follows is not kept.]\n`;
    expect(shown.slice(LIMIT - 2)).toBe(`bc${closing}`);
    const { body } = await attempt.complete("succeeded", {
      log: { size: LIMIT + 1_005, sha256: "0".repeat(64) },
    });
    expect(body.status).toBe("failed");
    expect(await page()).toMatchObject({ status: "sealed", truncated: true });
    expect((await bytes()).length).toBe(shown.length);
  });

  it("is not truncated if that is all there was", async () => {
    await fill(LIMIT);
    const log = await declare(new Uint8Array(LIMIT).fill(97));
    await attempt.complete("failed", { log });
    expect(await page()).toMatchObject({ status: "sealed", truncated: false });
  });
});
