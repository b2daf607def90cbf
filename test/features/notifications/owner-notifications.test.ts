import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { batch } from "../../../src/db/batch.ts";
import { openForWriting } from "../../../src/db/client.ts";
import {
  type FailedIntegration,
  notifyOwners,
} from "../../../src/features/notifications/delivery/owner-notifications.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { systemContext } from "../../../src/system-context.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { newKey, newProject, newWorld, type World } from "../../support/world.ts";

const HOUR = 3_600_000;
const DAY = LIMITS.ownerNotificationMs.value;
const { db } = openForWriting(env.DB);

let world: World;
let client: Client;
let project: Parsed;
/** Both subscribe to the changelog. */
let failing: Parsed;
let healthy: Parsed;
/** Does not. */
let deaf: Parsed;
let now: number;

beforeEach(async () => {
  world = await newWorld();
  ({ client } = await newKey(world));
  project = await newProject(client);
  failing = await newIntegration(client, project.id, ["changelog"]);
  healthy = await newIntegration(client, project.id, ["changelog"]);
  deaf = await newIntegration(client, project.id, ["promotions"]);
  await untilSent();
  now = Date.now();
});

/** A success of the events of their creation would end the failures that the tests set. */
async function untilSent(): Promise<void> {
  const pending = "select 1 from deliveries where project_id = ? and status = 'pending'";
  while (await env.DB.prepare(pending).bind(project.id).first()) await scheduler.wait(5);
}

const run = (query: string, ...values: unknown[]) =>
  env.DB.prepare(query)
    .bind(...values)
    .run();

const set = (id: string, column: string, value: number | null) =>
  run(`update integrations set ${column} = ?2 where id = ?1`, id, value);

const failureOf = ({ id }: Parsed, fields: Partial<FailedIntegration> = {}): FailedIntegration => ({
  integrationId: id,
  organizationId: world.id,
  projectId: project.id,
  earlierAttempts: 1,
  ...fields,
});

function notify(failed: readonly FailedIntegration[], time = now) {
  const deps = { clock: { now: () => time }, log: () => undefined, fetch };
  const ctx = systemContext(db, env, { waitUntil: () => undefined }, deps);
  return batch(ctx.db, notifyOwners(ctx, failed, time));
}

/** The entries by the service itself, oldest first. */
async function entries(): Promise<Parsed[]> {
  const path = `/v1/projects/${project.id}/changelog?sort_by=created_at&limit=240`;
  const { body } = await (await newKey(world)).client.get(path);
  return body.data.filter((entry: Parsed) => !entry.actor);
}

/** What the recipients receive of the service, as `recipient: action of record`. */
async function received(): Promise<string[]> {
  const names: Record<string, string> = {
    [failing.id]: "failing",
    [healthy.id]: "healthy",
    [deaf.id]: "deaf",
  };
  const deliveries = await listDeliveries(project.id);
  return deliveries
    .filter(({ data }) => data.action === "failing" || data.action === "paused")
    .map(({ integration_id, data }) => {
      expect(data.count).toBe(1);
      expect(data).not.toHaveProperty("account_id");
      return `${names[integration_id]}: ${data.action} of ${names[data.record.id]}`;
    })
    .toSorted();
}

describe("an integration that begins to fail", () => {
  it("is in the changelog, and the other integrations with the flag receive it", async () => {
    await set(failing.id, "failing_since", now - 5_000);
    await notify([failureOf(failing)]);
    expect(await entries()).toEqual([
      expect.objectContaining({
        action: "failing",
        record: { type: "integration", id: failing.id },
        before: {},
        after: { failing_since: new Date(now - 5_000).toISOString() },
      }),
    ]);
    expect(await received()).toEqual(["healthy: failing of failing"]);
    const { body: events } = await client.get(`/v1/projects/${project.id}/events?limit=1`);
    expect(events.data[0].data.action).toBe("failing");
  });

  it("is not, after a first attempt, after a success in between, or while it is disabled", async () => {
    await set(failing.id, "failing_since", now - 5_000);
    await notify([failureOf(failing, { earlierAttempts: 0 })]);
    // This failure is the first since a success.
    await set(failing.id, "failing_since", now);
    await notify([failureOf(failing)]);
    await set(failing.id, "failing_since", null);
    await notify([failureOf(failing)]);
    await set(failing.id, "failing_since", now - 5_000);
    await set(failing.id, "disabled_at", now);
    await notify([failureOf(failing)]);
    expect(await entries()).toEqual([]);
    expect(await received()).toEqual([]);
    await set(failing.id, "disabled_at", null);
    await notify([failureOf(failing)]);
    expect(await entries()).toHaveLength(1);
  });

  it("is named once until it succeeds, and once in 24 hours if it recovers in between", async () => {
    await set(failing.id, "failing_since", now - 5_000);
    await notify([failureOf(failing), failureOf(failing)]);
    await notify([failureOf(failing)], now + 1);
    await notify([failureOf(failing)], now + 3 * DAY);
    expect(await entries()).toHaveLength(1);
    await set(failing.id, "failing_since", now + HOUR);
    await notify([failureOf(failing)], now + DAY - 1);
    expect(await entries()).toHaveLength(1);
    await notify([failureOf(failing)], now + DAY);
    await notify([failureOf(failing)], now + DAY + 1);
    expect(await entries()).toHaveLength(2);
    expect(await received()).toEqual(Array(2).fill("healthy: failing of failing"));
  });

  it("is named once if two batches record its failures at the same time", async () => {
    await set(failing.id, "failing_since", now - 5_000);
    await Promise.all([1, 2, 3].map(() => notify([failureOf(failing)])));
    expect(await entries()).toHaveLength(1);
  });

  it("tells another that fails too, and each only of the other: no loop", async () => {
    for (const { id } of [failing, healthy]) await set(id, "failing_since", now - 5_000);
    const both = [failureOf(failing), failureOf(healthy)];
    for (let minute = 0; minute < 5; minute += 1) await notify(both, now + minute * 60_000);
    expect(await received()).toEqual([
      "failing: failing of healthy",
      "healthy: failing of failing",
    ]);
    expect(await entries()).toHaveLength(2);
  });

  it("of another project or organization is named there, in the same batch", async () => {
    const other = await newWorld();
    const theirs = await newProject(other.client);
    const foreign = await newIntegration(other.client, theirs.id, ["changelog"]);
    for (const { id } of [failing, foreign]) await set(id, "failing_since", now - 5_000);
    const elsewhere = { organizationId: other.id, projectId: theirs.id };
    await notify([failureOf(failing), failureOf(foreign, elsewhere)]);
    expect(await received()).toEqual(["healthy: failing of failing"]);
    const { body } = await other.client.get(`/v1/projects/${theirs.id}/changelog`);
    const named = body.data.filter((entry: Parsed) => entry.action === "failing");
    expect(named).toEqual([
      expect.objectContaining({ record: { type: "integration", id: foreign.id } }),
    ]);
    const rows = await env.DB.prepare(
      "select organization_id from changelog_entries where record_id = ? and action = 'failing'",
    )
      .bind(foreign.id)
      .all();
    expect(rows.results).toEqual([{ organization_id: other.id }]);
  });
});

describe("an integration that pauses", () => {
  it("for over an hour is in the changelog, once in 24 hours, and no shorter pause is", async () => {
    const pausedUntil = now + 2 * HOUR;
    const pause = (until: number, time: number) =>
      notify([failureOf(failing, { pausedUntil: until, earlierAttempts: 0 })], time);
    await set(failing.id, "paused_until", now + HOUR);
    await pause(now + HOUR, now);
    expect(await entries()).toEqual([]);
    await set(failing.id, "paused_until", pausedUntil);
    await pause(pausedUntil, now);
    await pause(pausedUntil, now + 1);
    expect(await entries()).toEqual([
      expect.objectContaining({
        action: "paused",
        after: { paused_until: new Date(pausedUntil).toISOString() },
      }),
    ]);
    await set(failing.id, "paused_until", now + 2 * DAY);
    await pause(now + 2 * DAY, now + DAY - 1);
    expect(await entries()).toHaveLength(1);
    await pause(now + 2 * DAY, now + DAY);
    expect(await entries()).toHaveLength(2);
    expect(await received()).toEqual(Array(2).fill("healthy: paused of failing"));
  });

  it("is not named if the pause was not written, as for a changed integration", async () => {
    await notify([failureOf(failing, { pausedUntil: now + 2 * HOUR, earlierAttempts: 0 })]);
    expect(await entries()).toEqual([]);
  });

  it("and fails is named for both", async () => {
    await set(failing.id, "failing_since", now - 5_000);
    await set(failing.id, "paused_until", now + 2 * HOUR);
    await notify([failureOf(failing, { pausedUntil: now + 2 * HOUR })]);
    expect(await received()).toEqual(["healthy: failing of failing", "healthy: paused of failing"]);
  });
});

describe("the statements", () => {
  it("are none without a retry or a long pause, and read by indexes", async () => {
    const deps = { clock: { now: () => now }, log: () => undefined, fetch };
    const ctx = systemContext(db, env, { waitUntil: () => undefined }, deps);
    expect(notifyOwners(ctx, [failureOf(failing, { earlierAttempts: 0 })], now)).toEqual({});
    const { entries, failing: marked, paused } = notifyOwners(ctx, [failureOf(failing)], now);
    if (!entries || !marked || !paused) throw new Error("There are no statements");
    for (const statement of [entries, marked, paused]) {
      const { sql, params } = statement.toSQL();
      const { results } = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...params)
        .all<{ detail: string }>();
      for (const { detail } of results) expect(detail, sql).not.toMatch(/^SCAN (?!item)/);
    }
  });
});
