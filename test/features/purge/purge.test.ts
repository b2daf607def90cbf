import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createApp } from "../../../src/app.ts";
import { type OwnedTable, Ownership } from "../../../src/db/ownership.ts";
import { FEATURES } from "../../../src/features/index.ts";
import { projects } from "../../../src/features/tenancy/project-table.ts";
import { firstIdAt, newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { copyDeliveries } from "../../support/copied-deliveries.ts";
import { FullOrganization } from "../../support/full-organization.ts";
import { Instrumented } from "../../support/instruments.ts";
import { queryPlans } from "../../support/query-plans.ts";
import { newIntegration, newKey, newProject, newWorld } from "../../support/world.ts";

const DAY_MS = 86_400_000;
const ROWS = LIMITS.purgeRows.value;
const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));

/** Rows that a DELETE leaves for the purge. */
const PURGED = FEATURES.flatMap(({ tables = [] }) => tables)
  .filter(({ purged, tombstone }: OwnedTable) => purged || tombstone)
  .map(({ table }) => getTableName(table));

const daysAgo = (days: number) => Date.now() - days * DAY_MS;
const idAt = (time: number) => newId({ now: () => time });

async function newOwner() {
  const world = await newWorld();
  const project = await newProject(world.client);
  const integration = await newIntegration(world.client, project.id);
  return { world, projectId: String(project.id), integrationId: String(integration.id) };
}

type Owner = Awaited<ReturnType<typeof newOwner>>;

/** A delivery with an attempt, and its event, which was last used at `usedAt`. */
async function addDelivery(
  { world, projectId, integrationId }: Owner,
  fields: { createdAt: number; status?: string; usedAt?: number },
): Promise<{ delivery: string; event: string }> {
  const { createdAt, status = "succeeded", usedAt = createdAt } = fields;
  const delivery = idAt(createdAt);
  const event = idAt(createdAt);
  await env.DB.batch([
    env.DB.prepare(
      "insert into events values (?1, ?2, ?3, null, 'deployments.failed', '{}', ?4, ?5)",
    ).bind(event, world.id, projectId, createdAt, usedAt),
    env.DB.prepare(
      `insert into deliveries select ?1, organization_id, project_id, id, ?2, 'deployments.failed',
         ?3, ?4, 1, 4e12, ?3, ?3, null, null from integrations where id = ?5`,
    ).bind(delivery, event, createdAt, status, integrationId),
    env.DB.prepare("insert into delivery_attempts values (?1, 1, ?2, ?3, 1, 200, null, null)").bind(
      delivery,
      world.id,
      createdAt,
    ),
  ]);
  return { delivery, event };
}

async function count(table: string, where: string, ...values: string[]): Promise<number> {
  const query = env.DB.prepare(`select count(*) as n from ${table} where ${where}`);
  return (await query.bind(...values).first<number>("n")) ?? 0;
}

const exists = async (table: string, id: string) => (await count(table, "id = ?", id)) === 1;

/** A database that loses the connection after the first batch that deletes many rows. */
function failingAfterBatch(): D1Database {
  const { withSession } = env.DB;
  let isLost = false;
  const open = (constraint: string) => {
    const session = withSession.call(env.DB, constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        if (isLost) throw new Error("D1_ERROR: Network connection lost.");
        const results = await session.batch(statements);
        isLost ||= results.some(({ meta }) => meta.changes >= ROWS);
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession: open } as unknown as D1Database;
}

async function copyDeliveriesWithAttempts(integrationId: string, rows: number): Promise<void> {
  await copyDeliveries(integrationId, rows);
  await env.DB.prepare(
    `insert into delivery_attempts select id, 1, organization_id, 1, 1, 200, null, null
       from deliveries where integration_id = ?`,
  )
    .bind(integrationId)
    .run();
}

const OF_INTEGRATION = "integration_id = ?";

describe("the purge of a deleted record", () => {
  it("deletes at most 500 rows with a statement, and resumes after a lost connection", async () => {
    const owner = await newOwner();
    const { world, projectId, integrationId } = owner;
    const rows = 2 * ROWS + 100;
    await copyDeliveriesWithAttempts(integrationId, rows);
    const kept = await newIntegration(world.client, projectId);
    await copyDeliveriesWithAttempts(kept.id, 3);
    const path = `/v1/projects/${projectId}/notification-integrations/${integrationId}`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await count("deliveries", OF_INTEGRATION, integrationId)).toBe(rows);
    const left: number[] = [];
    for (let run = 0; run < 10 && left.at(-1) !== 0; run += 1) {
      const isolate = new Instrumented({ database: failingAfterBatch() });
      await isolate.sweep().catch(() => undefined);
      left.push(await count("deliveries", OF_INTEGRATION, integrationId));
    }
    expect(left).toEqual([rows - ROWS, rows - 2 * ROWS, 0]);
    await new Instrumented().sweep();
    expect(await exists("integrations", integrationId)).toBe(false);
    expect(await count("purges", "record_id = ?", integrationId)).toBe(0);
    expect(await count("deliveries", OF_INTEGRATION, kept.id)).toBe(3);
    expect(await count("delivery_attempts", "organization_id = ?", world.id)).toBe(3);
  });

  it("ends a run at its limit of time, and the next run continues", async () => {
    const { world, projectId, integrationId } = await newOwner();
    await copyDeliveriesWithAttempts(integrationId, 3 * ROWS);
    await world.client.delete(
      `/v1/projects/${projectId}/notification-integrations/${integrationId}`,
    );
    let now = Date.now();
    // Each look at the clock takes a twelfth of a run.
    const clock = { now: () => (now += Math.ceil(LIMITS.purgeMs.value / 12)) };
    const purged = async () =>
      3 * ROWS - (await count("deliveries", OF_INTEGRATION, integrationId));
    const isolate = new Instrumented({ clock });
    // The pauses after batches are as long as the clock says: minutes.
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setTimeout"] }).setTimerTickMode("nextTimerAsync");
    await isolate.sweep();
    const first = await purged();
    expect(first).toBeLessThan(3 * ROWS);
    for (let run = 0; run < 20 && (await purged()) < 3 * ROWS; run += 1) await isolate.sweep();
    expect(await purged()).toBe(3 * ROWS);
  });

  it("that fails is logged, and delays neither another one nor the retention", async () => {
    const owner = await newOwner();
    const { world, projectId, integrationId } = owner;
    const old = await addDelivery(owner, { createdAt: daysAgo(40) });
    const unknown = idAt(daysAgo(1));
    await env.DB.prepare("insert into purges values (?, ?, 'domain', 'x', 1)")
      .bind(unknown, world.id)
      .run();
    const deleted = await newIntegration(world.client, projectId);
    await copyDeliveriesWithAttempts(deleted.id, 3);
    await world.client.delete(`/v1/projects/${projectId}/notification-integrations/${deleted.id}`);
    const isolate = new Instrumented();
    await isolate.sweep();
    expect(isolate.logged.filter(({ level }) => level === "error")).toMatchObject([
      { event: "purge.failed", fields: { organizationId: world.id, type: "domain" } },
    ]);
    expect(await exists("purges", unknown)).toBe(true);
    expect(await exists("integrations", deleted.id)).toBe(false);
    expect(await count("purges", "record_id = ?", deleted.id)).toBe(0);
    expect(await exists("deliveries", old.delivery)).toBe(false);
    expect(await exists("integrations", integrationId)).toBe(true);
    await env.DB.prepare("delete from purges where id = ?").bind(unknown).run();
  });

  it("empties every table of a full project, and keeps the other organizations", async () => {
    const [own, other] = [await FullOrganization.create(90), await FullOrganization.create(90)];
    const tables = ownership.ownedBy(projects).map((table) => getTableName(table));
    // They have deleted stacks.
    await new Instrumented().sweep();
    const countAll = async (organizationId: string) =>
      Promise.all(tables.map((table) => count(table, "organization_id = ?", organizationId)));
    const before = await countAll(other.world.id);
    expect(before.filter((rows) => rows === 0)).toEqual([]);
    const { client } = await newKey(own.world);
    const { body } = await client.get("/v1/projects");
    for (const { id } of body.data) {
      await env.DB.prepare(
        "update deployments set status = 'failed', announced = 'failed' where project_id = ?",
      )
        .bind(id)
        .run();
      expect((await client.delete(`/v1/projects/${id}`)).status).toBe(204);
    }
    await new Instrumented().sweep();
    expect((await countAll(own.world.id)).filter((rows) => rows > 0)).toEqual([]);
    expect(await countAll(other.world.id)).toEqual(before);
    expect(await count("purges", "organization_id = ?", own.world.id)).toBe(0);
  });
});

describe("the retention", () => {
  it("deletes finished deliveries after 30 days with their attempts, and keeps pending ones", async () => {
    const owner = await newOwner();
    const old = await addDelivery(owner, { createdAt: daysAgo(30.01) });
    const failed = await addDelivery(owner, { createdAt: daysAgo(90), status: "failed" });
    const pending = await addDelivery(owner, { createdAt: daysAgo(90), status: "pending" });
    const recent = await addDelivery(owner, { createdAt: daysAgo(29.99) });
    await new Instrumented().sweep();
    const attempts = (id: string) => count("delivery_attempts", "delivery_id = ?", id);
    for (const { delivery, event } of [old, failed]) {
      expect(await exists("deliveries", delivery)).toBe(false);
      expect(await attempts(delivery)).toBe(0);
      expect(await exists("events", event)).toBe(false);
    }
    for (const { delivery, event } of [pending, recent]) {
      expect(await exists("deliveries", delivery)).toBe(true);
      expect(await attempts(delivery)).toBe(1);
      expect(await exists("events", event)).toBe(true);
    }
  });

  it("keeps an event for 30 days after its newest delivery", async () => {
    const owner = await newOwner();
    const used = await addDelivery(owner, { createdAt: daysAgo(60), usedAt: daysAgo(10) });
    const unused = await addDelivery(owner, { createdAt: daysAgo(60), usedAt: daysAgo(31) });
    await new Instrumented().sweep();
    expect(await exists("deliveries", used.delivery)).toBe(false);
    expect(await exists("events", used.event)).toBe(true);
    expect(await exists("events", unused.event)).toBe(false);
  });

  it("passes many old pending deliveries", async () => {
    const owner = await newOwner();
    for (let at = 0; at < 20; at += 1) {
      await addDelivery(owner, { createdAt: daysAgo(99), status: "pending" });
    }
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
       insert into deliveries (id, organization_id, project_id, integration_id, event_id, type,
           occurred_at, status, attempts, due_at, created_at, updated_at)
         select substr(?1, 1, 18) || printf('%04d', i), organization_id, project_id, id, ?1,
           'ping', 1, 'pending', 0, 9e15, 1, 1 from n join integrations
         on integrations.id = ?2`,
    )
      .bind(idAt(daysAgo(98)), owner.integrationId)
      .run();
    const old = await addDelivery(owner, { createdAt: daysAgo(40) });
    await new Instrumented().sweep();
    expect(await exists("deliveries", old.delivery)).toBe(false);
    expect(await count("deliveries", OF_INTEGRATION, owner.integrationId)).toBe(1220);
  });

  it("deletes what has just expired even if a run ends among old rows that are kept", async () => {
    const owner = await newOwner();
    const { event: kept } = await addDelivery(owner, {
      createdAt: daysAgo(60),
      usedAt: daysAgo(10),
    });
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
       insert into events select substr(id, 1, 18) || printf('%04d', i), organization_id, project_id,
         null, type, data, created_at, last_used_at from n join events on events.id = ?`,
    )
      .bind(kept)
      .run();
    const { event: expired } = await addDelivery(owner, { createdAt: daysAgo(30) - DAY_MS / 24 });
    const { event: recent } = await addDelivery(owner, { createdAt: daysAgo(30) + DAY_MS / 24 });
    const ranges = () =>
      isolate.database
        .flatMap(({ statements }) => statements)
        .filter(({ sql }) => /max\(id\).* from "events"/s.test(sql)).length;
    // The time of the run is over after it has read the first range of old events.
    const clock = { now: () => Date.now() + (ranges() < 3 ? 0 : LIMITS.purgeMs.value) };
    const isolate = new Instrumented({ clock });
    await isolate.sweep();
    expect(ranges()).toBe(3);
    expect(await exists("events", expired)).toBe(false);
    expect(await exists("events", recent)).toBe(true);
    const ofProject = "project_id = ? and id < ?";
    expect(await count("events", ofProject, owner.projectId, idAt(daysAgo(59)))).toBe(1201);
    await env.DB.prepare("delete from events where project_id = ?").bind(owner.projectId).run();
  });

  it.each([
    ["changelog_entries", "project_id"],
    ["audit_log", "organization_id"],
  ])("deletes rows of %s after 400 days", async (table) => {
    const { world } = await newOwner();
    const { results } = await env.DB.prepare(`pragma table_info(${table})`).all<{ name: string }>();
    const columns = results.map(({ name }) => name).filter((name) => name !== "id");
    const insert = async (time: number) => {
      const id = idAt(time);
      await env.DB.prepare(
        `insert into ${table} (id, ${columns}) select ?1, ${columns} from ${table}
          where organization_id = ?2 limit 1`,
      )
        .bind(id, world.id)
        .run();
      return id;
    };
    const [old, recent] = [await insert(daysAgo(400.01)), await insert(daysAgo(399.99))];
    await new Instrumented().sweep();
    expect(await exists(table, old)).toBe(false);
    expect(await exists(table, recent)).toBe(true);
  });
});

describe("the settings of the retention", () => {
  const settings = { ...env } as Record<string, unknown>;

  async function sweepWith(value: string | undefined): Promise<void> {
    const app = createApp({ log: () => undefined });
    const bindings = { ...settings, RETAIN_DELIVERIES_DAYS: value } as unknown as Env;
    await app.sweep(bindings, createExecutionContext());
  }

  it.each([
    ["", [29, 60]],
    ["0", [29, 60]],
    ["1e1", [29, 60]],
    ["NaN", [29, 60]],
    [undefined, [29]],
    ["90", [29, 60]],
    ["28", []],
  ])("%j keeps deliveries of %j days", async (value, kept) => {
    const owner = await newOwner();
    const added = new Map(
      await Promise.all(
        [29, 60].map(
          async (days) => [days, await addDelivery(owner, { createdAt: daysAgo(days) })] as const,
        ),
      ),
    );
    await sweepWith(value).catch(() => undefined);
    const left = await Promise.all(
      [...added].map(async ([days, { delivery }]) =>
        (await exists("deliveries", delivery)) ? [days] : [],
      ),
    );
    expect(left.flat()).toEqual(kept);
    await env.DB.prepare("delete from delivery_attempts where organization_id = ?")
      .bind(owner.world.id)
      .run();
    await env.DB.prepare("delete from deliveries where organization_id = ?")
      .bind(owner.world.id)
      .run();
  });
});

describe("the IDs of a time", () => {
  it("sort after those before it, and before those from then on", () => {
    for (const time of [1, 1_700_000_000_000, Date.now(), 281_474_976_710_655]) {
      const bound = firstIdAt(time);
      expect(bound).toHaveLength(22);
      expect(idAt(time) > bound).toBe(true);
      expect(idAt(time - 1) < bound).toBe(true);
    }
  });
});

describe("no statement of the purge", () => {
  it("reads a whole table, or orders rows without an index", async () => {
    const { world } = await FullOrganization.create(90);
    await env.DB.prepare(
      "update deployments set status = 'failed', announced = 'failed' where organization_id = ?",
    )
      .bind(world.id)
      .run();
    const { client } = await newKey(world);
    const { body } = await client.get("/v1/projects");
    for (const { id } of body.data) await client.delete(`/v1/projects/${id}`);
    await addOld();
    const isolate = new Instrumented();
    await isolate.sweep();
    const statements = isolate.database.flatMap((exchange) => exchange.statements);
    const purging = statements.filter(
      ({ sql }) =>
        /^delete|max\(id\)|purges/.test(sql) && !/invitations|sessions|sign_in_links/.test(sql),
    );
    const tables = purging.map(({ sql }) => sql.match(/^delete from "(\w+)"/)?.[1]);
    for (const table of [...PURGED, "audit_log"]) expect(tables, table).toContain(table);
    const different = [...new Map(purging.map((each) => [each.sql, each])).values()];
    const plans = await queryPlans(different);
    const scans = different.map(({ sql }, at) => {
      return (
        (plans[at] ?? [])
          // There are few recoveries. The purges' organizations, the lists of IDs are bounded.
          .filter((detail) => !/^SCAN (recoveries|found|json_each|\()/.test(detail))
          .filter((detail) => /^SCAN|TEMP B-TREE/.test(detail) && !isRandom(sql))
          .map((detail) => `${detail}: ${sql}`)
      );
    });
    expect(scans.flat()).toEqual([]);
  });

  /** The order of the organizations with deleted resources. */
  const isRandom = (statement: string) => statement.includes("random()");

  async function addOld(): Promise<void> {
    const owner = await newOwner();
    await addDelivery(owner, { createdAt: daysAgo(50) });
    await env.DB.prepare(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
         target_id) values (?, ?, 1, 'project.deleted', 'success', 'operator', 'project', 'x')`,
    )
      .bind(idAt(daysAgo(500)), owner.world.id)
      .run();
  }
});
