import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
  storedIntegration,
} from "../../support/delivery-rows.ts";
import { newProject, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STEP_MS = 250;

const arrived = () => new Response(null, { status: 204 });

/** Responds with nothing until the request is aborted. */
const hang = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });

let project: Parsed;
/** Of the requests of `counting`: those in progress now, and the most at once. */
let inProgress: { now: number; most: number };

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
  inProgress = { now: 0, most: 0 };
});

afterEach(() => {
  vi.useRealTimers();
});

async function counting(respond: () => Promise<Response>): Promise<Response> {
  inProgress.now += 1;
  inProgress.most = Math.max(inProgress.most, inProgress.now);
  return respond().finally(() => {
    inProgress.now -= 1;
  });
}

const freezeTimers = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });

/** Lets the database, the cryptography and the sender proceed as far as they can without the clock. */
async function untilIdle(harness: DeliveryHarness): Promise<void> {
  for (let idle = 0; idle < 10; idle = harness.openRoundTrips > 0 ? 0 : idle + 1) {
    await scheduler.wait(0);
  }
}

/** Moves the clock and fires timers, until the run has ended or for this long. */
async function advance(harness: DeliveryHarness, ms: number, run?: Promise<unknown>) {
  let hasEnded = false;
  void run?.finally(() => {
    hasEnded = true;
  });
  const until = harness.now + ms;
  await untilIdle(harness);
  while (harness.now < until && !hasEnded) {
    harness.now += STEP_MS;
    vi.advanceTimersByTime(STEP_MS);
    await untilIdle(harness);
  }
}

describe("an endpoint that does not respond", () => {
  it.each([
    ["before its headers", (signal: AbortSignal) => hang(signal), null],
    [
      "in its body",
      async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })),
      200,
    ],
  ])("times out after 15 s %s, and pauses like one that is overloaded", async (_, answer, code) => {
    freezeTimers();
    const harness = new DeliveryHarness((_request, signal) => answer(signal), { instances: 1 });
    const integrationId = await insertIntegration(project);
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    const start = harness.now;
    harness.enqueue([id]);
    const run = harness.runUntil(start);
    await advance(harness, 15 * SECOND - STEP_MS);
    expect(await storedAttempts(id)).toEqual([]);
    await advance(harness, 2 * STEP_MS, run);
    await run;
    expect(await storedAttempts(id)).toMatchObject([
      { status_code: code, error: "timed out after 15 s", duration_ms: 15_000 },
    ]);
    const retryAt = start + 20 * SECOND;
    expect(await stored(id)).toMatchObject({ status: "pending", due_at: retryAt });
    expect(await storedIntegration(integrationId)).toMatchObject({ paused_until: retryAt });
    expect(harness.queue.messages).toMatchObject([{ at: retryAt, attempts: 0 }]);
  });

  it("takes two connections, and the deliveries of other integrations pass", async () => {
    freezeTimers();
    const dead = await insertIntegration(project, { url: "https://dead.longshore.dev/" });
    const healthy = await insertIntegration(project, { url: "https://healthy.longshore.dev/" });
    const harness = new DeliveryHarness(
      async ({ url }, signal) =>
        url.includes("healthy") ? arrived() : counting(() => hang(signal)),
      { instances: 1, detachesWaitUntil: true },
    );
    const start = harness.now;
    const deadIds = await insertDeliveries(project, dead, start, 40);
    const healthyIds = await insertDeliveries(project, healthy, start, 40);
    harness.enqueue([...deadIds, ...healthyIds]);
    const run = harness.runUntil(start);
    await advance(harness, 2 * SECOND, run);
    await run;
    expect(inProgress).toEqual({ now: 2, most: 2 });
    for (const id of healthyIds) {
      expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
    }
    expect(harness.queue.messages).toEqual([]);
    // Further invocations of this isolate send it nothing either.
    harness.enqueue(deadIds);
    const again = harness.runUntil(harness.now);
    await advance(harness, 2 * SECOND, again);
    await again;
    expect(inProgress).toEqual({ now: 2, most: 2 });
    await advance(harness, 15 * SECOND, harness.waitForDetached());
    expect(inProgress.now).toBe(0);
    expect((await Promise.all(deadIds.map(storedAttempts))).flat()).toHaveLength(2);
  });

  it("does not hold up an invocation if all hang: five requests, over within 25 s", async () => {
    freezeTimers();
    const ids: string[] = [];
    const harness = new DeliveryHarness((_, signal) => counting(() => hang(signal)), {
      instances: 1,
      detachesWaitUntil: true,
    });
    const start = harness.now;
    for (let at = 0; at < 20; at += 1) {
      const id = await insertIntegration(project, { url: `https://dead${at}.longshore.dev/` });
      ids.push(...(await insertDeliveries(project, id, start, 3)));
    }
    const [first = ""] = ids;
    harness.queue.push({ delivery_id: first, others: [] }, 0);
    const run = harness.runUntil(start);
    await advance(harness, 25 * SECOND, run);
    await run;
    // The handler returns early, and the requests continue.
    const returnedAt = harness.now;
    expect(returnedAt - start).toBeLessThan(9 * SECOND);
    expect(inProgress.most).toBe(5);
    // What it claimed and did not send is due again.
    const states = await Promise.all(ids.map(stored));
    expect(states.filter(({ due_at }) => due_at > returnedAt)).toHaveLength(inProgress.now);
    await advance(harness, start + 25 * SECOND - harness.now, harness.waitForDetached());
    expect(inProgress).toEqual({ now: 0, most: 5 });
    const attempts = (await Promise.all(ids.map(storedAttempts))).flat();
    expect(attempts).toHaveLength(harness.received.length);
    // Another consumer continues.
    expect(harness.queue.messages.some(({ at }) => at <= harness.now)).toBe(true);
  });

  it("and others that take all connections do not delay another endpoint by their timeouts", async () => {
    freezeTimers();
    const harness = new DeliveryHarness(
      async ({ url }, signal) =>
        url.includes("healthy") ? arrived() : counting(() => hang(signal)),
      { instances: 1, detachesWaitUntil: true },
    );
    const start = harness.now;
    const deadIds: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const dead = await insertIntegration(project, { url: `https://dead${at}.longshore.dev/` });
      deadIds.push(...(await insertDeliveries(project, dead, start - SECOND, 2)));
    }
    const healthy = await insertIntegration(project, { url: "https://healthy.longshore.dev/" });
    const healthyIds = await insertDeliveries(project, healthy, start, 40);
    harness.enqueue(deadIds.slice(0, 1));
    const run = harness.runUntil(start);
    await advance(harness, 2 * SECOND, run);
    await run;
    await advance(harness, SECOND);
    expect(inProgress).toEqual({ now: 5, most: 5 });
    expect(harness.queue.messages).not.toEqual([]);
    const again = harness.runUntil(harness.now);
    await advance(harness, 2 * SECOND, again);
    await again;
    expect(inProgress).toEqual({ now: 5, most: 5 });
    for (const id of healthyIds) {
      expect(await stored(id)).toMatchObject({ status: "succeeded" });
      expect(await storedAttempts(id)).toHaveLength(1);
    }
    expect(harness.now).toBeLessThan(start + 15 * SECOND);
    expect((await Promise.all(deadIds.map(storedAttempts))).flat()).toEqual([]);
    await advance(harness, 15 * SECOND, harness.waitForDetached());
    expect((await Promise.all(deadIds.map(storedAttempts))).flat()).toHaveLength(5);
  });

  it("gets what arrived during a slow request when that ends, without the sweep", async () => {
    freezeTimers();
    const slow = async (signal: AbortSignal) => {
      await Promise.race([hang(signal), new Promise((resolve) => setTimeout(resolve, 3_000))]);
      return arrived();
    };
    const integrationId = await insertIntegration(project);
    const harness = new DeliveryHarness((_, signal) => counting(() => slow(signal)), {
      instances: 1,
      detachesWaitUntil: true,
    });
    const start = harness.now;
    harness.enqueue(await insertDeliveries(project, integrationId, start));
    const run = harness.runUntil(start);
    await advance(harness, SECOND);
    await run;
    // The endpoint is slow now, so that this wake-up finds nothing to claim.
    const later = await insertDeliveries(project, integrationId, harness.now);
    harness.enqueue(later);
    const second = harness.runUntil(harness.now);
    await advance(harness, SECOND, second);
    await second;
    expect(harness.received).toHaveLength(1);
    await advance(harness, 4 * SECOND, harness.waitForDetached());
    expect(harness.queue.messages).toMatchObject([{ attempts: 0 }]);
    const third = harness.runUntil(harness.now);
    await advance(harness, 5 * SECOND, third);
    await third;
    expect(harness.received).toHaveLength(2);
    expect(harness.now).toBeLessThan(start + MINUTE);
    await advance(harness, 5 * SECOND, harness.waitForDetached());
    expect(await stored(String(later[0]))).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("does not hold up what its consumer gives back: another one is woken at once", async () => {
    freezeTimers();
    const harness = new DeliveryHarness(
      ({ url }, signal) => (url.includes("healthy") ? arrived() : hang(signal)),
      { instances: 1, detachesWaitUntil: true },
    );
    const start = harness.now;
    const dead: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const id = await insertIntegration(project);
      dead.push(...(await insertDeliveries(project, id, start - SECOND, 2)));
    }
    const url = "https://healthy.longshore.dev/";
    const healthy = await insertIntegration(project, { url });
    const ids = await insertDeliveries(project, healthy, start, 20);
    harness.enqueue(dead.slice(0, 1));
    const first = harness.runUntil(start);
    await advance(harness, 2 * SECOND, first);
    await first;
    await advance(harness, SECOND);
    const second = harness.runUntil(harness.now);
    await advance(harness, 2 * SECOND, second);
    await second;
    expect(harness.now).toBeLessThan(start + 15 * SECOND);
    for (const id of ids) expect(await stored(id)).toMatchObject({ status: "succeeded" });
    for (const id of dead) expect(await stored(id)).toMatchObject({ status: "pending" });
    await advance(harness, 15 * SECOND);
    await harness.waitForDetached();
  });
});

describe("an endpoint that fails", () => {
  it("gets one request at a time until one succeeds", async () => {
    const integrationId = await insertIntegration(project);
    await env.DB.prepare("update integrations set failing_since = 1 where id = ?")
      .bind(integrationId)
      .run();
    const harness = new DeliveryHarness(
      () =>
        counting(async () => {
          await scheduler.wait(1);
          return new Response(null, { status: 500 });
        }),
      { instances: 1 },
    );
    harness.succeedAt("hooks.longshore.dev");
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 10));
    await harness.runUntil(harness.now);
    expect(inProgress.most).toBe(1);
    expect(harness.received).toHaveLength(10);
    harness.endpoint = () =>
      counting(async () => {
        await scheduler.wait(1);
        return arrived();
      });
    await harness.runUntil(harness.now + 10 * SECOND);
    expect(harness.received).toHaveLength(20);
    expect(inProgress.most).toBeGreaterThan(1);
    expect(inProgress.most).toBeLessThanOrEqual(5);
  });
});

it("records no negative duration of an attempt if the clock goes back meanwhile", async () => {
  const harness: DeliveryHarness = new DeliveryHarness(() => {
    harness.now -= MINUTE;
    return arrived();
  });
  const integrationId = await insertIntegration(project);
  const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
  harness.enqueue([id]);
  await harness.runUntil(harness.now);
  expect(await storedAttempts(id)).toMatchObject([{ status_code: 204, duration_ms: 0 }]);
});
