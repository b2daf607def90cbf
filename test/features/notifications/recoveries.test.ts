import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { batch } from "../../../src/db/batch.ts";
import { openForWriting } from "../../../src/db/client.ts";
import { READ_AT_ONCE } from "../../../src/features/notifications/recoveries/model.ts";
import {
  advance,
  listFailed,
  listRunning,
} from "../../../src/features/notifications/recoveries/store.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { systemContext } from "../../../src/system-context.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import { newKey, newProject, newWorld, type World } from "../../support/world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { db } = openForWriting(env.DB);
const deps = { clock: systemClock, log: () => undefined, fetch };
const ctx = systemContext(db, env, { waitUntil: () => undefined }, deps);

let world: World;
let client: Client;
let integration: Parsed;
let path: string;
let now: number;

beforeEach(async () => {
  world = await newWorld();
  ({ client } = await newKey(world));
  const project = await newProject(client);
  integration = await newIntegration(client, project.id);
  path = `/v1/projects/${project.id}/notification-integrations/${integration.id}`;
  now = Date.now();
});

const at = (ms: number) => new Date(ms).toISOString();
const sweep = () => createApp().sweep(env, createExecutionContext());
const run = (query: string, ...values: unknown[]) =>
  env.DB.prepare(query)
    .bind(...values)
    .run();

interface Sent {
  status: "failed" | "succeeded" | "pending";
  createdAt: number;
  /** Of an earlier delivery of the same event. */
  eventId?: string;
  integrationId?: string;
}

/** Inserts a delivery with its event, or a redelivery, as the service does. Returns the event's ID. */
async function newSent({ status, createdAt, ...sent }: Sent): Promise<string> {
  const eventId = sent.eventId ?? newId(systemClock);
  const { project_id } = integration;
  if (sent.eventId) {
    await run("update events set last_used_at = ?2 where id = ?1", eventId, createdAt);
  } else {
    await run(
      "insert into events values (?1, ?2, ?3, null, 'deployments.failed', '{\"n\":1}', ?4, ?4)",
      eventId,
      world.id,
      project_id,
      createdAt,
    );
  }
  await run(
    `insert into deliveries (id, organization_id, project_id, integration_id, event_id, type,
       occurred_at, status, attempts, due_at, created_at, updated_at)
     values (?1, ?2, ?3, ?4, ?5, 'deployments.failed',
       (select created_at from events where id = ?5), ?6, 8, 0, ?7, ?7)`,
    newId(systemClock),
    world.id,
    project_id,
    sent.integrationId ?? integration.id,
    eventId,
    status,
    createdAt,
  );
  return eventId;
}

/** Inserts failed deliveries, each with its event, of an hour ago. */
async function insertFailed(count: number): Promise<{ id: string; event: string }[]> {
  const inserted = Array.from({ length: count }, () => ({
    id: newId(systemClock),
    event: newId(systemClock),
  }));
  await run(
    `insert into events select value ->> 'event', ?2, ?3, null, 'services.ok', '{}', ?4, ?4
       from json_each(?1)`,
    ...[JSON.stringify(inserted), world.id, integration.project_id, now - HOUR],
  );
  await run(
    `insert into deliveries (id, organization_id, project_id, integration_id, event_id, type,
       occurred_at, status, attempts, due_at, created_at, updated_at)
     select value ->> 'id', ?2, ?3, ?4, value ->> 'event', 'services.ok', ?5, 'failed', 8, 0,
       ?5 + key / 700, ?5 from json_each(?1)`,
    ...[JSON.stringify(inserted), world.id, integration.project_id, integration.id, now - HOUR],
  );
  return inserted;
}

/** The events of the deliveries that the recovery has created, oldest first. */
async function created(integrationId: string = integration.id): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select event_id from deliveries where integration_id = ? and created_at >= ?
       and created_at > occurred_at order by id`,
  )
    .bind(integrationId, now)
    .all<{ event_id: string }>();
  return results.map(({ event_id }) => event_id);
}

async function recover(body: object = { since: at(now - DAY) }): Promise<Parsed> {
  const reply = await client.post(`${path}/recoveries`, body);
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
}

const read = async ({ id }: Parsed) => (await client.get(`${path}/recoveries/${id}`)).body;

describe("a recovery", () => {
  it("delivers again what failed in its period, and shows its progress", async () => {
    const earlier = await newSent({ status: "failed", createdAt: now - 6 * HOUR });
    const failed = await newSent({ status: "failed", createdAt: now - 5 * HOUR });
    const atStart = await newSent({ status: "failed", createdAt: now - 8 * HOUR });
    await newSent({ status: "failed", createdAt: now - 8 * HOUR - 1 });
    await newSent({ status: "failed", createdAt: now - HOUR });
    await newSent({ status: "succeeded", createdAt: now - 5 * HOUR });
    const elsewhere = await newIntegration(client, integration.project_id);
    const foreign = { status: "failed" as const, createdAt: now - 5 * HOUR };
    await newSent({ ...foreign, integrationId: elsewhere.id });
    const recovery = await recover({ since: at(now - 8 * HOUR), until: at(now - HOUR) });
    expect(recovery).toEqual({
      id: expect.any(String),
      integration_id: integration.id,
      status: "running",
      since: at(now - 8 * HOUR),
      until: at(now - HOUR),
      delivery_count: 0,
      created_at: expect.any(String),
      updated_at: recovery.created_at,
    });
    await sweep();
    expect(await created()).toEqual([atStart, earlier, failed]);
    expect(await created(elsewhere.id)).toEqual([]);
    const finished = await read(recovery);
    expect(finished).toMatchObject({ status: "finished", delivery_count: 3 });
    expect(finished.finished_at).toBe(finished.updated_at);
    await sweep();
    expect(await created()).toHaveLength(3);
    const { body: list } = await client.get(`${path}/recoveries`);
    expect(list).toEqual({ data: [finished], has_more: false });
    const payloads = await env.DB.prepare(
      `select events.data, events.last_used_at from deliveries join events on events.id = event_id
       where integration_id = ? and deliveries.created_at >= ? order by deliveries.id`,
    )
      .bind(integration.id, now)
      .all<{ data: string; last_used_at: number }>();
    expect(payloads.results.map(({ data }) => data)).toEqual(Array(3).fill('{"n":1}'));
    expect(payloads.results[0]?.last_used_at).toBeGreaterThanOrEqual(now);
  });

  it("leaves out events that the integration has received, and those that are pending", async () => {
    const [first, again] = [now - 5 * HOUR, now - 4 * HOUR];
    const received = await newSent({ status: "failed", createdAt: first });
    await newSent({ status: "succeeded", createdAt: again, eventId: received });
    const pending = await newSent({ status: "failed", createdAt: first });
    await newSent({ status: "pending", createdAt: again, eventId: pending });
    const sentTwice = await newSent({ status: "succeeded", createdAt: first });
    await newSent({ status: "failed", createdAt: again, eventId: sentTwice });
    const failedTwice = await newSent({ status: "failed", createdAt: first });
    await newSent({ status: "failed", createdAt: again, eventId: failedTwice });
    // Another integration has received it.
    const elsewhere = await newIntegration(client, integration.project_id);
    const others = await newSent({ status: "failed", createdAt: first });
    const theirs = { createdAt: again, eventId: others, integrationId: elsewhere.id };
    await newSent({ ...theirs, status: "succeeded" });
    const recovery = await recover();
    await sweep();
    expect((await created()).toSorted()).toEqual([failedTwice, others].toSorted());
    expect((await read(recovery)).delivery_count).toBe(2);
  });

  it("continues where it stopped, in chunks, and two sweeps create nothing twice", async () => {
    const count = 2 * READ_AT_ONCE + 3;
    const inserted = await insertFailed(count);
    const recovery = await recover();
    const own = async () =>
      (await listRunning(db, { limit: 1_000 })).filter(({ id }) => id === recovery.id);
    const [before] = await own();
    if (!before) throw new Error("The recovery is not running");
    const failed = await listFailed(db, before);
    expect(failed).toHaveLength(READ_AT_ONCE);
    await Promise.all([1, 2].map(() => batch(ctx.db, advance(ctx, before, failed))));
    expect(await created()).toHaveLength(READ_AT_ONCE);
    expect(await read(recovery)).toMatchObject({
      status: "running",
      delivery_count: READ_AT_ONCE,
    });
    await Promise.all([sweep(), sweep()]);
    const events = await created();
    expect(new Set(events)).toEqual(new Set(inserted.map(({ event }) => event)));
    expect(events).toHaveLength(count);
    expect(await read(recovery)).toMatchObject({ status: "finished", delivery_count: count });
  });

  it("creates an event once, even if that fails before the next chunk", async () => {
    const twice = await newSent({ status: "failed", createdAt: now - 5 * HOUR });
    const between = await insertFailed(READ_AT_ONCE);
    await newSent({ status: "failed", createdAt: now - HOUR / 2, eventId: twice });
    const later = await newSent({ status: "failed", createdAt: now - HOUR / 2 });
    const recovery = await recover();
    const before = (await listRunning(db, { limit: 1_000 })).find(({ id }) => id === recovery.id);
    if (!before) throw new Error("The recovery is not running");
    await batch(ctx.db, advance(ctx, before, await listFailed(db, before)));
    expect(await created()).toContain(twice);
    // It was created in the millisecond of the recovery.
    await run(
      "update deliveries set status = 'failed', created_at = ? where event_id = ? and created_at >= ?",
      before.createdAt,
      twice,
      now,
    );
    await sweep();
    const expected = [twice, later, ...between.map(({ event }) => event)];
    expect((await created()).toSorted()).toEqual(expected.toSorted());
    expect((await read(recovery)).status).toBe("finished");
    // A later recovery delivers it again. The others are pending.
    const next = await recover();
    await sweep();
    expect((await created()).toSorted()).toEqual([...expected, twice].toSorted());
    expect((await read(next)).delivery_count).toBe(1);
  });

  it("that cannot be advanced does not delay another one", async () => {
    const failed = await newSent({ status: "failed", createdAt: now - HOUR });
    const broken = await recover();
    const other = await newIntegration(client, integration.project_id);
    const others = await newSent({
      status: "failed",
      createdAt: now - HOUR,
      integrationId: other.id,
    });
    const otherPath = path.replace(integration.id, other.id);
    const { body: second } = await client.post(`${otherPath}/recoveries`, {
      since: at(now - DAY),
    });
    await run(
      `create trigger broken before update on recoveries when old.id = '${broken.id}'
        begin select raise(abort, 'broken'); end`,
    );
    const isolate = new Instrumented();
    await isolate.sweep().finally(() => run("drop trigger broken"));
    expect(isolate.logged.filter(({ event }) => event === "recovery.failed")).toContainEqual(
      expect.objectContaining({
        level: "error",
        fields: expect.objectContaining({ recovery: broken.id }),
      }),
    );
    expect(await created()).toEqual([]);
    expect((await read(broken)).status).toBe("running");
    expect(await created(other.id)).toEqual([others]);
    expect((await client.get(`${otherPath}/recoveries/${second.id}`)).body.status).toBe("finished");
    await sweep();
    expect(await created()).toEqual([failed]);
    expect((await read(broken)).status).toBe("finished");
  });

  it("reads and writes by indexes", async () => {
    await newSent({ status: "failed", createdAt: now - HOUR });
    await recover();
    const own = (await listRunning(db, { limit: 1_000 })).find(
      ({ integrationId }) => integrationId === integration.id,
    );
    if (!own) throw new Error("The recovery is not running");
    const failed = await listFailed(db, own);
    const { advanced, deliveries, counted, events } = advance(ctx, own, failed);
    for (const statement of [listFailed(db, own), advanced, deliveries, counted, events]) {
      const { sql, params } = statement.toSQL();
      const { results } = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...params)
        .all<{ detail: string }>();
      for (const { detail } of results) {
        expect(detail, sql).not.toMatch(/^SCAN (?!item|failed|\(subquery|json_each)/);
      }
    }
  });

  it("waits while the integration is disabled, and continues when it is enabled", async () => {
    const failed = await newSent({ status: "failed", createdAt: now - HOUR });
    const recovery = await recover();
    await run("update integrations set disabled_at = 5 where id = ?", integration.id);
    await sweep();
    expect(await created()).toEqual([]);
    expect((await read(recovery)).status).toBe("running");
    await client.patch(path, {});
    await sweep();
    expect(await created()).toEqual([failed]);
    expect((await read(recovery)).status).toBe("finished");
  });

  it("is refused while another runs, and while the integration is disabled or unconfirmed", async () => {
    const body = { since: at(now - HOUR) };
    const first = await recover(body);
    const expectConflict = async (message: string) => {
      const { status, body: error } = await client.post(`${path}/recoveries`, body);
      expect([status, error.code]).toEqual([409, "conflict"]);
      expect(error.message).toContain(message);
    };
    await expectConflict("A recovery of this integration is running");
    await sweep();
    const second = await recover(body);
    await sweep();
    await run("update integrations set disabled_at = 5 where id = ?", integration.id);
    await expectConflict("Send a PATCH");
    await run(
      "update integrations set disabled_at = null, type = 'slack' where id = ?",
      integration.id,
    );
    await expectConflict("not confirmed");
    const { body: list } = await client.get(`${path}/recoveries?sort_by=created_at`);
    expect(list.data.map(({ id }: Parsed) => id)).toEqual([first.id, second.id]);
  });

  it("has a period in the past, of the last 30 days", async () => {
    const earliest = LIMITS.recoveryMs.value;
    for (const [body, field] of [
      [{ since: at(now - earliest - HOUR) }, "since"],
      [{ since: at(now + HOUR) }, "since"],
      [{ since: at(now - HOUR), until: at(now - HOUR) }, "until"],
      [{ since: at(now - HOUR), until: at(now - 2 * HOUR) }, "until"],
      [{}, "since"],
      [{ since: "yesterday" }, "since"],
    ] as const) {
      const { status, body: error } = await client.post(`${path}/recoveries`, body);
      expect([status, error.code], JSON.stringify(body)).toEqual([400, "bad_input"]);
      expect(error.cause.issues[0].path).toBe(field);
    }
    const { until } = await recover({ since: at(now - earliest + HOUR), until: at(now + DAY) });
    expect(Date.parse(until)).toBeLessThanOrEqual(Date.now());
  });

  it("is not found through another integration", async () => {
    const recovery = await recover();
    const other = await newIntegration(client, integration.project_id);
    const wrong = `${path}/recoveries/${recovery.id}`.replace(integration.id, other.id);
    expect((await client.get(wrong)).status).toBe(404);
  });
});
