import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Parsed } from "../../support/client.ts";
import {
  clearOutbox,
  DeliveryHarness,
  insertAttempts,
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
} from "../../support/delivery-harness.ts";
import { untilTimersAreSet } from "../../support/frozen-time.ts";
import { newProject, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const arrived = () => new Response(null, { status: 204 });
const refused = () => new Response(null, { status: 500 });

let project: Parsed;
let integrationId: string;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
  integrationId = await insertIntegration(project);
});

afterEach(() => {
  vi.useRealTimers();
});

const update = (id: string, set: string) =>
  env.DB.prepare(`update deliveries set ${set} where id = ?`).bind(id).run();

const updateIntegration = (set: string) =>
  env.DB.prepare(`update integrations set ${set} where id = ?`).bind(integrationId).run();

describe("a batch", () => {
  it("uses one round trip for the claim, and one to record each delivery", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 5));
    await harness.runUntil(harness.now);
    expect(harness.roundTrips.map((statements) => statements.length)).toEqual([5, 3, 3, 3, 3, 3]);

    const failing = new DeliveryHarness(refused, { instances: 1 });
    failing.enqueue(await insertDeliveries(project, integrationId, failing.now, 2));
    await failing.runUntil(failing.now);
    expect(failing.roundTrips.map((statements) => statements.length)).toEqual([5, 3, 3]);
  });

  it("reads every row through an index", async () => {
    const explained: string[] = [];
    const spy = (statement: string) => explained.push(statement);
    const harness = new DeliveryHarness(() => (explained.length > 20 ? arrived() : refused()), {
      instances: 1,
    });
    harness.onStatement = spy;
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 2));
    await harness.runUntil(harness.now + 10 * SECOND);
    await harness.sweep();
    const own = explained.filter((sql) => /deliver|integrations/.test(sql));
    expect(own.length).toBeGreaterThan(10);
    for (const sql of own) {
      const { results } = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...Array.from(sql.matchAll(/\?/g), () => "[]"))
        .all<{ detail: string }>();
      const scanned = results
        .map(({ detail }) => detail)
        .filter((detail) =>
          /^SCAN (?!json_each|item\b|event\b|ranked\b|CONSTANT|deferral\b)/.test(detail),
        )
        .filter((detail) => !sql.startsWith("insert") && !/^SCAN (?:\(|\d)/.test(detail));
      expect(scanned, sql).toEqual([]);
    }
  });

  it("sends a delivery once if two messages name it, and ignores an unknown ID", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.enqueue([id, id, "1CiCzHVVXqZpdRYYCDUVHx", id]);
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(1);
    expect(harness.queue.messages).toEqual([]);
  });

  it("sends each delivery once if several consumers get it", async () => {
    const harness = new DeliveryHarness(
      async () => {
        // Lets the other consumers run meanwhile.
        await scheduler.wait(0);
        return arrived();
      },
      { instances: 4 },
    );
    const ids = await insertDeliveries(project, integrationId, harness.now, 5);
    for (let times = 0; times < 4; times += 1) harness.enqueue(ids);
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(5);
  });

  it("continues if one of its deliveries cannot be handled", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [bad = "", good = ""] = await insertDeliveries(project, integrationId, harness.now, 2);
    await update(bad, "data = '{'");
    harness.enqueue([bad, good]);
    const start = harness.now;
    await harness.runUntil(start);
    expect(await stored(good)).toMatchObject({ status: "succeeded" });
    expect(await stored(bad)).toMatchObject({ status: "pending", attempts: 1 });
    expect(harness.logged).toHaveLength(1);
    expect(harness.queue.next).toBe(start + MINUTE);
  });

  it("leaves no rows of a delivery that is deleted while it is sent", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      await env.DB.prepare("delete from deliveries where id = ?").bind(id).run();
      return refused();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await storedAttempts(id)).toEqual([]);
    expect(harness.queue.messages).toEqual([]);
    expect(harness.logged).toEqual([]);
  });
});

describe("a claim", () => {
  it("lets another consumer send once it has expired, and its failure no longer counts", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    const other = new DeliveryHarness(arrived, { instances: 1 });
    harness.endpoint = async () => {
      other.now = start + MINUTE;
      other.endpoint = () => refused();
      other.enqueue([id]);
      await other.runUntil(other.now);
      return refused();
    };
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({
      status: "pending",
      attempts: 2,
      // The expired claim had not recorded an attempt.
      due_at: start + MINUTE + 5 * SECOND,
    });
    expect(await storedAttempts(id)).toMatchObject([{ number: 1 }, { number: 2 }]);
    // The consumer with the expired claim enqueues nothing.
    expect(harness.queue.messages).toEqual([]);
  });

  it("uses up no retry if it ends without a recorded attempt", async () => {
    const harness = new DeliveryHarness(refused, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    // Three claims crash; every later attempt is recorded.
    await update(id, "attempts = 3");
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({ attempts: 4, due_at: start + 5 * SECOND });
    await harness.runUntil(start + 72 * 60 * MINUTE);
    const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
    const times = harness.received.map(({ at }) => at);
    const gaps = times.slice(1).map((at, before) => (at - Number(times[before])) / SECOND);
    expect(gaps).toEqual(delays);
    expect(await storedAttempts(id)).toHaveLength(8);
    expect(await stored(id)).toMatchObject({
      status: "failed",
      attempts: 11,
      failure_reason: null,
    });
  });

  it("still succeeds after it has expired", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      await update(id, "attempts = 2");
      return arrived();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  it("does not change a delivery that has failed meanwhile", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      await update(id, "status = 'failed', finished_at = 1");
      return arrived();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ status: "failed", finished_at: 1 });
  });

  it("does not undo a success if its attempt fails late", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      await update(id, "status = 'succeeded', finished_at = 1");
      return refused();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ status: "succeeded", finished_at: 1 });
    expect(harness.queue.messages).toEqual([]);
  });

  it("fails the deliveries of a disabled integration that are due and unclaimed", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const ids = await insertDeliveries(project, integrationId, harness.now, 3);
    const [due = "", inFlight = "", later = ""] = ids;
    await update(inFlight, `attempts = 1, claimed_until = ${harness.now + 1}`);
    await update(later, `due_at = ${harness.now + MINUTE}`);
    await updateIntegration("disabled_at = 1, disabled_reason = 'gone'");
    harness.enqueue(ids);
    await harness.runUntil(harness.now);
    expect(await stored(due)).toMatchObject({
      status: "failed",
      finished_at: harness.now,
      failure_reason: "integration_disabled",
    });
    for (const id of [inFlight, later]) {
      expect(await stored(id)).toMatchObject({
        status: "pending",
        finished_at: null,
        failure_reason: null,
      });
    }
  });
});

describe("an endpoint that does not respond", () => {
  /** Responds with nothing until the request is aborted. The test advances the time. */
  const hang = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
    });
  /** One for the request, one for the delay of its batch. */
  const TIMERS = 2;

  it.each([
    ["before its headers", (signal: AbortSignal) => hang(signal), null],
    [
      "in its body",
      async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })),
      200,
    ],
  ])("times out after 15 s %s", async (_, answer, statusCode) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const harness = new DeliveryHarness((_request, signal) => answer(signal), { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    const start = harness.now;
    harness.enqueue([id]);
    const run = harness.runUntil(start);
    await untilTimersAreSet(TIMERS);
    vi.advanceTimersByTime(14_999);
    expect(await storedAttempts(id)).toEqual([]);
    harness.now = start + 15 * SECOND;
    vi.advanceTimersByTime(1);
    await run;
    expect(await storedAttempts(id)).toMatchObject([
      { status_code: statusCode, error: "timed out after 15 s", duration_ms: 15_000 },
    ]);
    expect(await stored(id)).toMatchObject({ due_at: start + 20 * SECOND });
    // The message was acknowledged long before, so the retry is a new message.
    expect(harness.queue.messages).toMatchObject([{ at: start + 20 * SECOND, attempts: 0 }]);
  });

  it("delays a batch by 250 ms, and no further batch for a minute", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const healthy = await insertIntegration(project, { url: "https://healthy.longshore.dev/" });
    const harness = new DeliveryHarness(
      ({ url }, signal) => (url.includes("healthy") ? arrived() : hang(signal)),
      { instances: 1, detachesWaitUntil: true },
    );
    const dead = await insertDeliveries(project, integrationId, harness.now, 10);
    const alive = await insertDeliveries(project, healthy, harness.now, 10);
    harness.enqueue(dead.slice(0, 1));
    const first = harness.runUntil(harness.now);
    await untilTimersAreSet(TIMERS);
    vi.advanceTimersByTime(249);
    expect(harness.queue.completedBatches).toBe(0);
    vi.advanceTimersByTime(1);
    await first;
    expect(harness.queue.completedBatches).toBe(1);
    harness.enqueue(dead.slice(1).flatMap((id, at) => [id, String(alive[at])]));
    // No time passes: every message is consumed, and the healthy endpoint has its deliveries.
    await harness.runUntil(harness.now);
    expect(harness.queue.messages).toEqual([]);
    for (const id of alive.slice(0, 9)) {
      while ((await stored(id)).status !== "succeeded") await scheduler.wait(0);
    }
    for (const id of dead)
      expect(await stored(id)).toMatchObject({ status: "pending", attempts: 1 });
    vi.advanceTimersByTime(15_000);
    await harness.waitForDetached();
    for (const id of dead) expect(await stored(id)).toMatchObject({ claimed_until: null });
    expect(harness.queue.messages).toHaveLength(10);
  });
});

describe("a message", () => {
  it("is replaced after 90 delays, and does not become a dead letter", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.enqueue([id]);
    for (let times = 0; times < 300; times += 1) {
      await updateIntegration(`paused_until = ${harness.now + 20 * MINUTE}`);
      await harness.runUntil(harness.now + 15 * MINUTE);
    }
    expect(harness.received).toEqual([]);
    expect(harness.queue.maxAttempts).toBe(90);
    await harness.runUntil(harness.now + 40 * MINUTE);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("whose delivery cannot be handled fails after 100 claims, although the sweep enqueues it", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [bad = ""] = await insertDeliveries(project, integrationId, harness.now);
    await update(bad, "data = '{'");
    const start = harness.now;
    harness.enqueue([bad]);
    await harness.runUntil(start + 120 * MINUTE);
    expect(await stored(bad)).toMatchObject({
      status: "failed",
      attempts: 100,
      failure_reason: "too_many_attempts",
    });
    expect((await stored(bad)).finished_at).toBeGreaterThan(start);
    expect(harness.received).toEqual([]);
    expect(harness.queue.messages).toEqual([]);
  });

  it("fails its delivery as a dead letter only if eight claims ended without an attempt", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const ids = await insertDeliveries(project, integrationId, harness.now, 4);
    const [bad = "", later = "", claimed = "", alive = ""] = ids;
    await update(bad, "attempts = 8");
    await update(later, `attempts = 8, due_at = ${harness.now + 1e9}, sweep_at = 1e15`);
    await update(claimed, `attempts = 8, claimed_until = ${harness.now + 1e9}, sweep_at = 1e15`);
    await insertAttempts(alive, 1);
    await update(alive, "attempts = 8");
    for (const delivery_id of ids) {
      harness.queue.push({ delivery_id }, 0, "longshore-deliveries-dead");
    }
    await harness.runUntil(harness.now);
    expect(await stored(bad)).toMatchObject({
      status: "failed",
      finished_at: harness.now,
      failure_reason: "not_handled",
    });
    for (const id of [later, claimed, alive]) {
      expect(await stored(id)).toMatchObject({ status: "pending", failure_reason: null });
    }
    expect(harness.logged.some((line) => line.includes('"event":"delivery.dead"'))).toBe(true);
    expect(harness.queue.messages).toEqual([]);
  });

  it("does not fail a delivery that has succeeded as a dead letter", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    await update(id, "attempts = 8, status = 'succeeded', finished_at = 1");
    harness.queue.push({ delivery_id: id }, 0, "longshore-deliveries-dead");
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ status: "succeeded", finished_at: 1 });
  });
});

describe("an outage of the database", () => {
  it("retries one of two messages that name the same delivery", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    const pass = () => Promise.reject(new Error("The database is down"));
    harness.newInvocation = () => ({ hasCrashed: false, pass });
    harness.enqueue([id, id]);
    await harness.runUntil(harness.now);
    expect(harness.queue.messages).toMatchObject([{ body: { delivery_id: id }, attempts: 1 }]);
  });

  it("fails no delivery, even if its messages become dead letters", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    const start = harness.now;
    let isDown = true;
    const pass = async <Result>(run: () => Promise<Result>) => {
      if (isDown) throw new Error("The database is down");
      return run();
    };
    harness.newInvocation = () => ({ hasCrashed: false, pass });
    harness.enqueue([id]);
    await harness.runUntil(start + 60 * MINUTE);
    isDown = false;
    await harness.runUntil(start + 70 * MINUTE);
    expect(harness.logged.some((line) => line.includes('"event":"delivery.dead"'))).toBe(true);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });
});

describe("the sweep", () => {
  const OVERDUE = 2_500;
  const isRound = (sql: string) => sql.startsWith('update "deliveries" set "sweep_at"');

  it("enqueues every overdue delivery, and none of them again for five minutes", async () => {
    const harness = new DeliveryHarness(arrived);
    const start = harness.now;
    const ids = await insertDeliveries(project, integrationId, start, OVERDUE);
    await harness.sweep();
    expect(harness.queue.messages).toEqual([]);
    harness.now = start + MINUTE;
    await harness.sweep();
    const enqueued = harness.queue.messages.map(({ body }) => body.delivery_id);
    expect(enqueued.toSorted()).toEqual(ids.toSorted());
    await harness.sweep();
    expect(harness.queue.messages).toHaveLength(OVERDUE);
    expect(await stored(String(ids[0]))).toMatchObject({ sweep_at: start + 6 * MINUTE });
    harness.now = start + 6 * MINUTE;
    await harness.sweep();
    expect(harness.queue.messages).toHaveLength(2 * OVERDUE);
  });

  it("stops after 20 s, and continues with its next run", async () => {
    const harness = new DeliveryHarness(arrived);
    await insertDeliveries(project, integrationId, harness.now, OVERDUE);
    harness.now += MINUTE;
    let rounds = 0;
    harness.onStatement = (sql) => {
      if (!isRound(sql)) return;
      rounds += 1;
      harness.now += 10 * SECOND;
    };
    await harness.sweep();
    expect([rounds, harness.queue.messages.length]).toEqual([2, 2_000]);
    await harness.sweep();
    expect([rounds, harness.queue.messages.length]).toEqual([3, OVERDUE]);
  });

  it("runs one statement if fewer deliveries than its limit are overdue", async () => {
    const harness = new DeliveryHarness(arrived);
    await insertDeliveries(project, integrationId, harness.now, 3);
    harness.now += MINUTE;
    let rounds = 0;
    harness.onStatement = (sql) => {
      if (isRound(sql)) rounds += 1;
    };
    await harness.sweep();
    expect([rounds, harness.queue.messages.length]).toEqual([1, 3]);
  });

  it.each([
    ["waits for a retry", 0],
    ["waits for its integration", 5 * MINUTE],
  ])("does not enqueue a delivery that %s until it is overdue by a minute", async (_, pauseMs) => {
    const harness = new DeliveryHarness(refused, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    await insertAttempts(id, 1);
    await updateIntegration(`paused_until = ${start + pauseMs}`);
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({ status: "pending", due_at: start + 5 * MINUTE });
    harness.queue.messages = [];
    harness.now = start + 6 * MINUTE - 1;
    await harness.sweep();
    expect(harness.queue.messages).toEqual([]);
    harness.now = start + 6 * MINUTE;
    await harness.sweep();
    expect(harness.queue.messages).toHaveLength(1);
  });
});
