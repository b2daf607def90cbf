import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import {
  deliveryIdsOf,
  scheduleWakeUps,
  wakeConsumers,
} from "../../../src/features/notifications/delivery/wake-up.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertAttempts,
  insertDeliveries,
  insertIntegration,
  stored,
} from "../../support/delivery-rows.ts";
import { VirtualQueue } from "../../support/virtual-queue.ts";
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

const updateIntegrations = (set: string, id?: string) =>
  env.DB.prepare(
    `update integrations set ${set} where id = coalesce(?, id) and organization_id = ?`,
  )
    .bind(id ?? null, project.org_id)
    .run();

const isSweep = (statements: string[]) => statements.some((sql) => sql.startsWith("select min"));

describe("a wake-up", () => {
  it.each([
    [1, ["d0"], 1],
    [5, ["d0"], 1],
    [6, ["d0", "d5"], 1],
    [1_001, Array.from({ length: 201 }, (_, at) => `d${5 * at}`), 3],
  ])("is one message for five deliveries (%d)", async (count, expected, sends) => {
    const queue = new VirtualQueue(() => 0);
    const ids = Array.from({ length: count }, (_, at) => `d${at}`);
    await wakeConsumers(queue.producer, ids);
    expect(queue.messages.map(({ body }) => body.delivery_id)).toEqual(expected);
    expect(queue.sends).toBe(sends);
  });

  it("names every delivery", async () => {
    const queue = new VirtualQueue(() => 0);
    const ids = Array.from({ length: 12 }, (_, at) => `d${at}`);
    await wakeConsumers(queue.producer, ids);
    expect(queue.messages.map(({ body }) => deliveryIdsOf(body))).toEqual([
      ids.slice(0, 5),
      ids.slice(5, 10),
      ids.slice(10),
    ]);
  });

  it("names the deliveries of all integrations that are due in a second", async () => {
    const harness = new DeliveryHarness(refused, { instances: 1 });
    const start = harness.now;
    const other = await insertIntegration(project);
    const ids = [
      ...(await insertDeliveries(project, integrationId, start)),
      ...(await insertDeliveries(project, other, start)),
    ];
    harness.enqueue(ids);
    await harness.runUntil(start);
    const named = harness.queue.messages.map(({ body }) => deliveryIdsOf(body).toSorted());
    expect(named).toEqual([ids.toSorted()]);
    await harness.runUntil(start + 10 * SECOND);
    for (const id of ids) expect(await stored(id)).toMatchObject({ attempts: 2 });
  });

  it("is one message for each second in which something is due, of 12 hours at most", async () => {
    const queue = new VirtualQueue(() => 0);
    const delays = [-5, 0, 1, 999, 1_000, 1_001, 5_000, 4_001, 12 * 60 * MINUTE + 1];
    await scheduleWakeUps(
      queue.producer,
      delays.map((delayMs, at) => ({ deliveryId: `d${at}`, delayMs })),
    );
    expect(queue.messages.map(({ at }) => at).toSorted((a, b) => a - b)).toEqual([
      0,
      SECOND,
      2 * SECOND,
      5 * SECOND,
      12 * 60 * MINUTE,
    ]);
  });

  it("comes at the second of each retry, and not before it is due", async () => {
    const harness = new DeliveryHarness(refused, { instances: 1, random: () => 0.123 });
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 3));
    await harness.runUntil(harness.now);
    const { results } = await env.DB.prepare(
      "select distinct due_at from deliveries where project_id = ?",
    )
      .bind(project.id)
      .all<{ due_at: number }>();
    expect(results).toHaveLength(1);
    const dueAt = Number(results[0]?.due_at);
    expect(harness.queue.messages.length).toBeGreaterThan(0);
    for (const { at } of harness.queue.messages) {
      expect(at).toBeGreaterThanOrEqual(dueAt);
      expect(at).toBeLessThan(dueAt + SECOND);
    }
  });

  it("of a throttled Slack channel is followed by another one, without the sweep", async () => {
    const harness = new DeliveryHarness(() => new Response("ok"), { instances: 1 });
    const start = harness.now;
    const slack = await insertIntegration(project, { type: "slack" });
    harness.enqueue(await insertDeliveries(project, slack, start));
    await harness.runUntil(start);
    harness.now = start + 400;
    const [id = ""] = await insertDeliveries(project, slack, harness.now);
    harness.enqueue([id]);
    await harness.runUntil(start + 5 * SECOND);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
    const [first, second, ...others] = harness.received.map(({ at }) => at);
    expect(others).toEqual([]);
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(SECOND);
    expect(harness.queue.messages).toEqual([]);
  });

  it("that is lost costs at most two minutes", async () => {
    const harness = new DeliveryHarness(arrived);
    const start = harness.now;
    const ids = await insertDeliveries(project, integrationId, start, 300);
    await harness.runUntil(start + MINUTE - 1);
    expect(harness.received).toEqual([]);
    await harness.runUntil(start + 2 * MINUTE);
    for (const id of ids) expect(await stored(id)).toMatchObject({ status: "succeeded" });
    expect(harness.received).toHaveLength(300);
  });
});

describe("a disabled integration", () => {
  it("has its deliveries failed in few batches", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const ids = await insertDeliveries(project, integrationId, harness.now, 300);
    await updateIntegrations("disabled_at = 1, disabled_reason = 'failing', failing_since = 1");
    harness.enqueue(ids.slice(0, 1));
    await harness.runUntil(harness.now);
    const { results } = await env.DB.prepare(
      "select distinct status, failure_reason from deliveries where project_id = ?",
    )
      .bind(project.id)
      .all();
    expect(results).toEqual([{ status: "failed", failure_reason: "integration_disabled" }]);
    // 30 deliveries in each.
    expect(harness.roundTrips.length).toBeLessThanOrEqual(12);
  });
});

describe("the sweep", () => {
  it("wakes one consumer for five integrations with overdue deliveries, until they are sent", async () => {
    const harness = new DeliveryHarness(arrived);
    const start = harness.now;
    const integrations = [integrationId];
    while (integrations.length < 12) integrations.push(await insertIntegration(project));
    for (const id of integrations) await insertDeliveries(project, id, start, 7);
    harness.now = start + MINUTE - 1;
    await harness.sweep();
    expect(harness.queue.messages).toEqual([]);
    harness.now = start + MINUTE;
    for (const sent of [3, 6]) {
      await harness.sweep();
      expect(harness.queue.messages).toHaveLength(sent);
    }
    expect(harness.roundTrips.filter(isSweep)).toHaveLength(3);
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(84);
    await harness.sweep();
    expect(harness.queue.messages).toEqual([]);
  });

  it("does not wake a consumer for a retry until it is overdue by a minute", async () => {
    const harness = new DeliveryHarness(refused, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    await insertAttempts(id, 1);
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({ status: "pending", due_at: start + 5 * MINUTE });
    harness.queue.messages = [];
    harness.now = start + 6 * MINUTE - 1;
    await harness.sweep();
    expect(harness.queue.messages).toEqual([]);
    harness.now = start + 6 * MINUTE;
    await harness.sweep();
    expect(harness.queue.messages).toMatchObject([{ body: { delivery_id: id } }]);
  });

  it("finds an integration behind a hundred that are paused", async () => {
    const harness = new DeliveryHarness(arrived);
    const start = harness.now;
    for (let at = 0; at < 110; at += 1) {
      await insertDeliveries(project, await insertIntegration(project), start);
    }
    await updateIntegrations(`paused_until = ${start + 10 * MINUTE}`);
    // The index has the integrations in the order of their IDs.
    const last = await insertIntegration(project);
    await env.DB.prepare("update integrations set id = 'zzzzzzzzzzzzzzzzzzzzzz' where id = ?")
      .bind(last)
      .run();
    const [id] = await insertDeliveries(project, "zzzzzzzzzzzzzzzzzzzzzz", start);
    harness.now = start + MINUTE;
    await harness.sweep();
    expect(harness.queue.messages).toMatchObject([{ body: { delivery_id: id } }]);
    harness.queue.messages = [];
    // A lost wake-up at the end of the pause.
    harness.now = start + 10 * MINUTE;
    await harness.sweep();
    expect(harness.queue.messages).toHaveLength(20);
  });
});
