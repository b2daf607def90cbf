import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LogStub } from "../../../src/features/deployments/logs/messages.ts";
import { CLOSING_LINES } from "../../../src/features/deployments/logs/model.ts";
import { bytesToReserve } from "../../../src/features/deployments/logs/reservation.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { OrganizationLimiter } from "../../../src/rate-limits/organization-limiter.do.ts";
import type { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  passTime,
  readEvents,
  start,
  WatchedLogs,
} from "../../support/log-harness.ts";
import type { Attempt } from "../../support/runner.ts";
import { newDeployment } from "../../support/world.ts";

const LIMIT = LIMITS.logBytesOfDay.value;
const LOG_LIMIT = LIMITS.logBytes.value;
const DAY_MS = 86_400_000;
const LINE = CLOSING_LINES.ofDay;
/** What the first bytes of a log reserve. */
const BLOCK = 16 * 1024;

const limiterOf = (organizationId: string) => env.ORGANIZATION_LIMITER.getByName(organizationId);

/** As logs of the organization do. Returns how many it got. */
const reserve = (organizationId: string, bytes: number): Promise<number> =>
  limiterOf(organizationId).reserveLogBytes(crypto.randomUUID(), bytes);

/** Uses all but so many bytes of a day that is new. */
const leave = (organizationId: string, bytes: number): Promise<number> =>
  reserve(organizationId, LIMIT - bytes);

/** A deployment that a runner has started, and its log. */
class Log {
  readonly #logged: LoggedDeployment;
  readonly attempt: Attempt;

  private constructor(logged: LoggedDeployment, attempt: Attempt) {
    this.#logged = logged;
    this.attempt = attempt;
  }

  static async start(
    options: { via?: Parameters<Client["via"]>[0]; limitsOrganizationId?: string } = {},
  ): Promise<Log> {
    const logged = await newLoggedDeployment(options.via);
    await env.DB.prepare("update organizations set limits_organization_id = ? where id = ?")
      .bind(options.limitsOrganizationId ?? null, logged.world.id)
      .run();
    return new Log(logged, await start(logged));
  }

  /** Of the next deployment of the environment. */
  async next(): Promise<Log> {
    const { world, environmentId } = this.#logged;
    const { id } = await newDeployment(world.client, environmentId);
    const logged = { ...this.#logged, deploymentId: String(id) };
    return new Log(logged, await start(logged));
  }

  get organizationId(): string {
    return this.#logged.world.id;
  }

  get object() {
    return logObject(this.#logged.deploymentId);
  }

  get #path(): string {
    return `/v1/deployments/${this.#logged.deploymentId}/logs`;
  }

  send(offset: number, body: string | Uint8Array) {
    return append(this.#logged, this.attempt, { stackId: this.#logged.stackIds[0], offset, body });
  }

  /** To the object itself, without waiting for its replies. */
  sendAtOnce(bodies: readonly string[]) {
    const { deploymentId, stackIds, world } = this.#logged;
    const object = this.object as unknown as LogStub;
    let offset = 0;
    return Promise.all(
      bodies.map((body) => {
        const bytes = new TextEncoder().encode(body);
        const request = { deploymentId, stackId: stackIds[0], offset, bytes };
        offset += bytes.length;
        return object.append({
          ...request,
          attemptId: this.attempt.claimed.attempt_id,
          limitsOrganizationId: world.id,
        });
      }),
    );
  }

  async text(): Promise<string> {
    return (await this.#logged.world.client.get(this.#path, { accept: "text/plain" })).text;
  }

  async page() {
    return (await this.#logged.world.client.get(this.#path)).body;
  }

  follow(): Promise<Response> {
    return this.#logged.world.client.raw("GET", this.#path, { accept: "text/event-stream" });
  }

  async status(): Promise<unknown> {
    const path = `/v1/deployments/${this.#logged.deploymentId}`;
    return (await this.#logged.world.client.get(path)).body.status;
  }

  /** As if nothing had been reserved: see `StoredLog`. */
  async storeWithoutSizes(): Promise<void> {
    await runInDurableObject(this.object, (_, { storage }) => {
      storage.sql.exec(
        "update log set content = json_remove(content, '$.sentSize', '$.reservedSize')",
      );
    });
    await evictDurableObject(this.object);
  }
}

describe("the bytes of an organization's logs of a day", () => {
  it("keep the last one that fits; then a log ends with one line, and its deployment goes on", async () => {
    const [log, other] = [await Log.start(), await Log.start()];
    await leave(log.organizationId, 10);
    expect((await log.send(0, "123456\n")).body).toEqual({ next_offset: 7 });
    expect((await log.send(7, "890")).body).toEqual({ next_offset: 10 });
    expect(await log.text()).toBe("123456\n890");
    expect((await log.send(10, "x\n")).body).toEqual({ next_offset: 12 });
    expect((await log.send(12, "more\n")).body).toEqual({ next_offset: 17 });
    expect((await log.send(6, "\n890x\nmore\n")).body).toEqual({ next_offset: 17 });
    expect(await log.text()).toBe(`123456\n890${LINE}`);
    expect(await log.page()).toMatchObject({ status: "open", truncated: false });
    const declared = await declare("123456\n890x\nmore\n");
    expect((await log.attempt.complete("failed", { log: declared })).status).toBe(200);
    expect(await log.status()).toBe("failed");
    await expect
      .poll(() => log.page())
      .toMatchObject({
        status: "sealed",
        truncated: true,
        next_offset: 10 + LINE.length,
      });

    expect((await other.send(0, "x".repeat(100))).body).toEqual({ next_offset: 100 });
    await other.attempt.complete("failed", { log: await declare("x".repeat(100)) });
    await expect.poll(() => other.page()).toMatchObject({ status: "sealed", truncated: false });
    expect(await other.text()).toBe("x".repeat(100));
  });

  it("divide the bytes of one request: those that fit are kept", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 3);
    expect((await log.send(0, "abcdef")).body).toEqual({ next_offset: 6 });
    expect(await log.text()).toBe(`abc${LINE}`);
    await log.attempt.complete("failed");
    await expect.poll(() => log.page()).toMatchObject({ status: "sealed", truncated: true });
  });

  it("are enough for a log of exactly so many, whose digest is that of all", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 6);
    await log.send(0, "abcdef");
    await log.attempt.complete("failed", { log: await declare("abcdef") });
    await expect
      .poll(() => log.page())
      .toMatchObject({ status: "sealed", truncated: false, next_offset: 6 });
  });

  it("are new on the next day, for other logs", async () => {
    passTime(0);
    passTime(DAY_MS - (Date.now() % DAY_MS) - 1);
    const log = await Log.start();
    await leave(log.organizationId, 0);
    await log.send(0, "abc");
    passTime(1);
    await log.send(3, "def");
    expect(await log.text()).toBe(LINE);
    await log.attempt.complete("failed");
    const next = await log.next();
    await next.send(0, "abc");
    expect(await next.text()).toBe("abc");
  });

  it("are shared with the organizations that share its rate limits", async () => {
    const founder = await Log.start();
    const log = await Log.start({ limitsOrganizationId: founder.organizationId });
    await leave(founder.organizationId, 3);
    await log.send(0, "abcd");
    await founder.send(0, "e");
    expect([await log.text(), await founder.text()]).toEqual([`abc${LINE}`, LINE]);
  });

  it("count once if the response of an append is lost", async () => {
    const logs = new WatchedLogs();
    const log = await Log.start({ via: new Instrumented({ logs: logs.namespace }).fetch });
    await leave(log.organizationId, 4);
    logs.fault = (method) => (method === "append" ? "after" : undefined);
    expect((await log.send(0, "abcdef")).status).toBe(408);
    expect((await log.send(0, "abcdef")).status).toBe(408);
    logs.fault = () => undefined;
    expect((await log.send(0, "abcdef")).body).toEqual({ next_offset: 6 });
    expect(await log.text()).toBe(`abcd${LINE}`);
  });

  it("count once if the response of the organization is lost", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 6);
    const { reserveLogBytes } = OrganizationLimiter.prototype;
    const spy = watchReservations();
    spy.mockImplementationOnce(function (this: OrganizationLimiter, ...input) {
      reserveLogBytes.apply(this, input);
      throw new Error("The response is lost");
    });
    await log.send(0, "abcdef");
    await log.send(6, "g");
    expect(await log.text()).toBe(`abcdef${LINE}`);
  });

  it("are counted also if both objects are evicted after each append", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 5);
    const limiter = limiterOf(log.organizationId);
    for (const offset of [0, 2, 4, 6]) {
      await log.send(offset, "ab");
      await runInDurableObject(limiter, (_, { storage }) =>
        vi.waitFor(async () =>
          expect(await storage.get("log-bytes")).toMatchObject({ reserved: LIMIT }),
        ),
      );
      await evictDurableObject(limiter);
      await evictDurableObject(log.object);
    }
    expect(await log.text()).toBe(`ababa${LINE}`);
    expect(await reserve(log.organizationId, 1)).toBe(0);
  });

  it("are written once, and so is the line, if appends overlap", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 5);
    const bodies = ["ab", "abcd", "abcdefgh", "abcdefgh", "abc"];
    const replies = await Promise.all(bodies.map((body) => log.send(0, body)));
    expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    expect(await log.text()).toBe(`abcde${LINE}`);
  });

  it("keep the order of appends that arrive while the log reserves them", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 5);
    await log.send(0, "");
    const replies = await log.sendAtOnce(["ab", "cd", "ef", "gh"]);
    const accepted = (nextOffset: number) =>
      expect.objectContaining({ kind: "accepted", nextOffset });
    expect(replies).toEqual([2, 4, 6, 8].map(accepted));
    expect(await log.text()).toBe(`abcde${LINE}`);
  });

  it("show followers the line once, and that the log is cut off", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 4);
    const events = readEvents((await log.follow()).body as ReadableStream<Uint8Array>);
    await events.next();
    for (const offset of [0, 3, 6, 9]) await log.send(offset, "ab\n");
    await log.attempt.complete("failed");
    let text = "";
    let end: unknown;
    for await (const { event, data } of events) {
      if (event === "message") text += JSON.parse(data).text;
      if (event === "end") end = JSON.parse(data);
    }
    expect(text).toBe(`ab\na${LINE}`);
    expect(end).toEqual({ status: "failed", truncated: true });
  });
});

describe("a log whose organization cannot be asked", () => {
  it("keeps its bytes, and asks again for those that follow a block", async () => {
    const log = await Log.start();
    await leave(log.organizationId, 0);
    const spy = watchReservations();
    spy.mockImplementation(() => {
      throw new Error("The object is not reachable");
    });
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => error.mockRestore());
    const block = "x".repeat(BLOCK);
    for (let offset = 0; offset < block.length; offset += 1024) {
      expect((await log.send(offset, block.slice(0, 1024))).status).toBe(200);
    }
    expect(await log.text()).toBe(block);
    // A call and its repeat.
    expect(spy).toHaveBeenCalledTimes(2);
    expect(error.mock.calls.flat().join()).toContain("log.bytes_not_reserved");
    spy.mockRestore();
    await log.send(block.length, "y");
    expect(await log.text()).toBe(`${block}${LINE}`);
  });
});

describe("a log that is stored without its sizes", () => {
  it("reserves only what follows", async () => {
    const log = await Log.start();
    await leave(log.organizationId, BLOCK + 2);
    await log.send(0, "abcde");
    await log.storeWithoutSizes();
    await log.send(5, "fgh");
    expect(await log.text()).toBe(`abcdefg${LINE}`);
  });

  it("keeps the size before the closing line if it is full", async () => {
    const log = await Log.start();
    const chunk = new Uint8Array(LIMITS.logChunkBytes.value).fill(0x62);
    for (let offset = 0; offset < LOG_LIMIT; offset += chunk.length) await log.send(offset, chunk);
    await log.storeWithoutSizes();
    await log.attempt.complete("failed", { log: await declare("b".repeat(LOG_LIMIT)) });
    await expect.poll(() => log.page()).toMatchObject({ status: "sealed", truncated: false });
  });
});

describe("the reservations of a log", () => {
  it("are few, and at most about as many bytes as it has beyond them", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: LIMITS.logChunkBytes.value }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(sizes, (appends) => {
        let [end, reserved, calls] = [0, 0, 0];
        for (const bytes of appends) {
          end = Math.min(end + bytes, LOG_LIMIT);
          const next = bytesToReserve({ end, reserved, limit: LOG_LIMIT });
          if (next > 0) calls += 1;
          reserved += next;
          expect(reserved).toBeGreaterThanOrEqual(end);
          expect(reserved).toBeLessThanOrEqual(Math.max(BLOCK, 2 * end, end + 1024 * 1024));
          expect(reserved).toBeLessThanOrEqual(LOG_LIMIT);
        }
        expect(calls).toBeLessThanOrEqual(7 + 16);
      }),
    );
  });
});

function watchReservations() {
  const spy = vi.spyOn(OrganizationLimiter.prototype, "reserveLogBytes");
  onTestFinished(() => spy.mockRestore());
  return spy;
}
