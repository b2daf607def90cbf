import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import type { OwnedTable } from "../../../src/db/ownership.ts";
import { FEATURES } from "../../../src/features/index.ts";
import { firstIdAt } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { FullOrganization } from "../../support/full-organization.ts";
import { daysAgo, idAt } from "../../support/history.ts";
import { Instrumented } from "../../support/instruments.ts";
import { addDelivery, count, exists, newOwner, OF_INTEGRATION } from "../../support/purge.ts";
import { queryPlans } from "../../support/query-plans.ts";
import { newKey } from "../../support/world.ts";

const DAY_MS = 86_400_000;

/** Rows that a DELETE leaves for the purge. */
const PURGED = FEATURES.flatMap(({ tables = [] }) => tables)
  .filter(({ purged, tombstone }: OwnedTable) => purged || tombstone)
  .map(({ table }) => getTableName(table));

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
