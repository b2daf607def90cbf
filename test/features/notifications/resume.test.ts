import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { RESUMED_AT_ONCE } from "../../../src/features/notifications/integrations/store.ts";
import { unitsOf } from "../../../src/lib/database-units.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newDelivery, newIntegration } from "../../support/integrations.ts";
import { MOST_UNITS } from "../../support/many-credentials.ts";
import { newKey, newProject, newWorld, type World } from "../../support/world.ts";

const HOUR = 3_600_000;

let world: World;
let client: Client;
let integration: Parsed;
let path: string;

beforeEach(async () => {
  world = await newWorld();
  ({ client } = await newKey(world));
  const project = await newProject(client);
  integration = await newIntegration(client, project.id);
  path = `/v1/projects/${project.id}/notification-integrations/${integration.id}`;
});

const run = (query: string, ...values: unknown[]) =>
  env.DB.prepare(query)
    .bind(...values)
    .run();

const pause = (until: number | null, failingSince: number | null = null) =>
  run(
    "update integrations set paused_until = ?2, failing_since = ?3 where id = ?1",
    integration.id,
    until,
    failingSince,
  );

interface Waiting {
  dueAt: number;
  attempts: number;
  updatedAt: number;
  /** Whether the attempt of the last claim has been recorded. */
  isRecorded: boolean;
}

async function newWaiting({ dueAt, attempts, updatedAt, isRecorded }: Waiting): Promise<string> {
  const id = await newDelivery(integration.id, { status: "pending", attempts });
  await run(
    "update deliveries set due_at = ?2, updated_at = ?3 where id = ?1",
    id,
    dueAt,
    updatedAt,
  );
  if (isRecorded) {
    await run(
      `insert into delivery_attempts (delivery_id, number, organization_id, started_at, duration_ms,
         status_code, error) values (?1, ?2, ?3, 1, 2, 503, 'answered 503')`,
      id,
      attempts,
      world.id,
    );
  }
  return id;
}

const dueAtOf = async (id: string) => {
  const row = await env.DB.prepare("select due_at from deliveries where id = ?").bind(id).first();
  return Number(row?.["due_at"]);
};

describe("the record of an integration", () => {
  it("shows its pause and its failures, and neither if there are none", async () => {
    expect((await client.get(path)).body).not.toHaveProperty("paused_until");
    expect((await client.get(path)).body).not.toHaveProperty("failing_since");
    await pause(5, 4);
    expect((await client.get(path)).body).toMatchObject({
      paused_until: "1970-01-01T00:00:00.005Z",
      failing_since: "1970-01-01T00:00:00.004Z",
    });
    const other = await client.patch(path, { url: "https://other.example.com/in" });
    expect(other.body).not.toHaveProperty("paused_until");
    expect(other.body).not.toHaveProperty("failing_since");
  });
});

describe("a resume", () => {
  it("ends the pause, and leaves the integration failing", async () => {
    await pause(Date.now() + HOUR, 4);
    const { status, body } = await client.post(`${path}/resume`, undefined);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty("paused_until");
    expect(body.failing_since).toBe("1970-01-01T00:00:00.004Z");
    expect((await client.get(path)).body).toEqual(body);
  });

  it("makes waiting retries due, and no delivery that is being sent", async () => {
    const now = Date.now();
    const retry = { attempts: 1, updatedAt: now - HOUR, dueAt: now + HOUR, isRecorded: true };
    const waiting = [
      await newWaiting(retry),
      // It has just failed.
      await newWaiting({ ...retry, attempts: 3, updatedAt: now }),
      // The invocation that claimed it has ended.
      await newWaiting({ ...retry, isRecorded: false }),
      await newWaiting({ ...retry, attempts: 0, isRecorded: false, updatedAt: now }),
    ];
    const sending = await newWaiting({
      attempts: 2,
      updatedAt: now,
      dueAt: now + 60_000,
      isRecorded: false,
    });
    const elsewhere = await newIntegration(client, integration.project_id);
    const foreign = await newDelivery(elsewhere.id, { status: "pending" });
    await run("update deliveries set due_at = ?2 where id = ?1", foreign, now + HOUR);
    const done = await newDelivery(integration.id);
    await run("update deliveries set due_at = ?2 where id = ?1", done, now + HOUR);
    expect((await client.post(`${path}/resume`, undefined)).status).toBe(201);
    for (const id of waiting) expect(await dueAtOf(id)).toBeLessThanOrEqual(Date.now());
    expect(await dueAtOf(sending)).toBe(now + 60_000);
    expect(await dueAtOf(foreign)).toBe(now + HOUR);
    expect(await dueAtOf(done)).toBe(now + HOUR);
  });

  it("makes many retries due, in statements of a bounded size, and wakes the sender once", async () => {
    const [count, later] = [2 * RESUMED_AT_ONCE + 7, Date.now() + HOUR];
    const template = await newWaiting({
      attempts: 1,
      updatedAt: 1,
      dueAt: later,
      isRecorded: false,
    });
    await run(
      `insert into deliveries select printf('%022d', number.value), organization_id, project_id,
         integration_id, event_id, type, occurred_at, status, attempts, due_at, created_at, updated_at, finished_at, failure_reason
       from deliveries join (with recursive number(value) as (select 1 union all
         select value + 1 from number where value < ?2) select value from number) as number
       where id = ?1`,
      template,
      count - 1,
    );
    const worker = new Instrumented();
    const headers = { "idempotency-key": "resume-1" };
    const caller = client.via(worker.fetch);
    const resumed = await caller.request("POST", `${path}/resume`, undefined, headers);
    expect(resumed.status).toBe(201);
    // The sender may have tried some of them again already.
    const waiting = await env.DB.prepare(
      `select count(*) as count from deliveries
        where integration_id = ? and due_at > ? and attempts = 1`,
    )
      .bind(integration.id, Date.now())
      .first();
    expect(waiting).toEqual({ count: 0 });
    const updates = worker.database
      .flatMap(({ statements }) => statements)
      .filter((each) => each.sql.startsWith('update "deliveries"'));
    expect(updates).toHaveLength(4);
    // A repeat does not continue what the first request has not done before its record.
    const statements = worker.database.flatMap((each) => each.statements.map(({ sql }) => sql));
    const recorded = statements.findIndex((sql) => sql.startsWith('insert into "idempotency'));
    expect(recorded).toBeGreaterThan(
      statements.findLastIndex((sql) => sql.startsWith('update "deliveries"')),
    );
    await run("update deliveries set due_at = ? where integration_id = ?", later, integration.id);
    // In the isolate of the first request, the organization would wait for what that has cost.
    const other = new Instrumented();
    const repeated = await client
      .via(other.fetch)
      .request("POST", `${path}/resume`, undefined, headers);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    const repeatedStatements = other.database.flatMap(({ statements }) => statements);
    expect(repeatedStatements.filter(({ sql }) => sql.startsWith("update"))).toEqual([]);
    const [first] = updates;
    const { meta } = await run(first?.sql ?? "", ...(first?.params ?? []));
    expect(meta.changes).toBe(RESUMED_AT_ONCE);
    expect(unitsOf(meta)).toBeLessThanOrEqual(MOST_UNITS);
    for (const { sql, params } of updates) {
      const { results } = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...params)
        .all<{ detail: string }>();
      const plan = results.map(({ detail }) => detail).join("\n");
      expect(plan).toContain("INDEX deliveries_due");
      expect(plan).not.toMatch(/SCAN (?!item)/);
    }
  });

  it("is refused while the integration is disabled or unconfirmed, and changes nothing", async () => {
    const later = Date.now() + HOUR;
    const retry = await newWaiting({ attempts: 1, updatedAt: 1, dueAt: later, isRecorded: true });
    for (const [state, message] of [
      ["disabled_at = 5, disabled_reason = 'gone'", "Send a PATCH"],
      ["disabled_at = null, disabled_reason = null, type = 'slack'", "Send POST …/confirm"],
    ] as const) {
      await run(`update integrations set paused_until = 9, ${state} where id = ?`, integration.id);
      const { status, body } = await client.post(`${path}/resume`, undefined);
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.message.toLowerCase()).toContain(message.toLowerCase());
      expect(await dueAtOf(retry)).toBe(later);
    }
    const changelog = `/v1/projects/${integration.project_id}/changelog?limit=1`;
    expect((await client.get(changelog)).body.data[0].action).toBe("created");
  });
});
