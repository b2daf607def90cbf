import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { beforeAll, describe, expect, it } from "vitest";
import { openForWriting } from "../../src/db/client.ts";
import { Ownership } from "../../src/db/ownership.ts";
import { listPurges } from "../../src/features/housekeeping/purge/organization-store.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import {
  countPurged,
  countRows,
  endDeployments,
  endPurge,
  ofOrganizations,
  pathOf,
  purge,
  purgesOf,
  remaining,
  repeatWhileLeft,
  rowsIn,
  rowsOf,
  rowWith,
  settled,
  sum,
  TABLES,
} from "../support/deleted-organizations.ts";
import { FullOrganization } from "../support/full-organization.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newKey, newProject, newWorld } from "../support/world.ts";

const OWNERSHIP = new Ownership(TABLES);

/** All rows of an organization, by table, without what a use and a sweep change. */
async function dump(id: string): Promise<Record<string, object[]>> {
  const tables = ofOrganizations.map(async ({ name }) => {
    const rows = await rowsIn(name, id);
    return [name, rows.map((row) => ({ ...row, last_used_at: null, evaluated_at: null }))] as const;
  });
  return Object.fromEntries(await Promise.all(tables));
}

/** A database that loses the connection after the first batch that deletes rows. */
function failingAfterDeletion(): D1Database {
  let isLost = false;
  return watchBatches((results) => {
    if (isLost) throw new Error("D1_ERROR: Network connection lost.");
    isLost ||= results.some(({ meta }) => meta.changes > 0);
  });
}

function watchBatches(watch: (results: D1Result[]) => void): D1Database {
  const { withSession } = env.DB;
  const open = (constraint: string) => {
    const session = withSession.call(env.DB, constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        watch([]);
        const results = await session.batch(statements);
        watch(results);
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession: open } as unknown as D1Database;
}

/** Deleted a minute ago, with a membership and the mark of the purge. Returns their IDs. */
async function addDeletedOrganizations(
  count: number,
  { withProject }: { withProject: boolean },
): Promise<string[]> {
  const { accountId } = await newWorld();
  const createdAt = Date.now() - 60_000;
  const ids = Array.from({ length: count }, () => newId({ now: () => createdAt }));
  const statements = [
    `insert into organizations (id, name, created_at, updated_at)
       select value, char(127) || value, ?2, ?2 from json_each(?1) where ?3 is not null`,
    `insert into memberships (id, organization_id, account_id, role, created_at, updated_at)
       select value, value, ?3, 'owner', ?2, ?2 from json_each(?1)`,
    `insert into purges select value, value, 'organization', value, ?2 from json_each(?1)
       where ?3 is not null`,
    ...(withProject
      ? [
          `insert into projects (id, organization_id, name, default_environment_id,
               connection_status, created_at, updated_at)
             select value, value, 'p', value, 'disconnected', ?2, ?2 from json_each(?1)
             where ?3 is not null`,
        ]
      : [
          `delete from usage where organization_id in (select value from json_each(?1))
             and ?2 = ?2 and ?3 = ?3`,
        ]),
  ];
  await env.DB.batch(
    statements.map((each) => env.DB.prepare(each).bind(JSON.stringify(ids), createdAt, accountId)),
  );
  return ids;
}

describe("the purge of a deleted organization", () => {
  let deleted: FullOrganization;
  let other: FullOrganization;

  beforeAll(async () => {
    [deleted, other] = [await FullOrganization.create(300), await FullOrganization.create(300)];
  });

  it("owns every table with an organization_id, or the manifest has the reason why not", () => {
    const roots = OWNERSHIP.rootsOfOrganization();
    const reached = roots.flatMap(({ table, owned }) => [
      table,
      ...owned.map((rows) => rows.table),
      ...owned.flatMap(({ childKeys }) => childKeys.map((key) => key.table)),
    ]);
    const names = new Set(reached.map((table) => getTableConfig(table as never).name));
    expect(remaining.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
    const kept = ofOrganizations.filter(({ outlivesOrganization }) => outlivesOrganization);
    expect(kept.map(({ name }) => name).toSorted()).toEqual(["bootstraps", "purges"]);
  });

  it("deletes all of its rows and no other's, in runs that end at any time", async () => {
    const { world } = deleted;
    await endDeployments(world.id);
    // What the purge deletes of both for other reasons.
    await purge();
    const unproven = await join(world);
    const proven = await newWorld();
    const both = { ...(await join(world)), accountId: proven.accountId };
    await env.DB.prepare("update memberships set account_id = ?1 where id = ?2")
      .bind(proven.accountId, both.membershipId)
      .run();
    const accountOf = async (membershipId: string) =>
      String((await rowWith("memberships", membershipId))?.["account_id"]);
    const unprovenAccount = await accountOf(unproven.membershipId);
    await env.DB.prepare("insert into used_sign_ins values (?1, ?2, ?3)")
      .bind(newId(systemClock), world.id, Number.MAX_SAFE_INTEGER)
      .run();
    const counts = await countRows(world.id);
    const empty = Object.entries(counts).filter(([, count]) => count === 0);
    expect(empty.map(([name]) => name)).toEqual(["limit_checks"]);
    const neighbor = await dump(other.world.id);
    const { client } = await newKey(world);
    expect((await client.delete(pathOf(world))).status).toBe(204);

    const left = [await countPurged(world.id)];
    for (let run = 0; left.at(-1) !== 0 && run < 200; run += 1) {
      const isolate = new Instrumented({ database: failingAfterDeletion() });
      await isolate.sweep().catch(() => undefined);
      left.push(await countPurged(world.id));
    }
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(left.length).toBeGreaterThan(20);
    expect(left.at(-1)).toBe(0);
    expect(await purgesOf(world.id)).toContainEqual({ record_type: "organization" });
    expect((await countRows(world.id))["memberships"]).toBeGreaterThan(0);
    await purge();
    expect(sum(await countRows(world.id))).toBe(0);
    expect(await purgesOf(world.id)).toEqual([]);
    expect(await rowWith("organizations", world.id)).toMatchObject({ name: `\x7f${world.id}` });
    expect(await dump(other.world.id)).toEqual(neighbor);
    expect((await other.world.client.get("/v1/whoami")).status).toBe(200);
    expect(await rowWith("accounts", unprovenAccount)).toBeNull();
    expect(await rowWith("accounts", world.accountId)).not.toBeNull();
    expect(await rowWith("accounts", proven.accountId)).not.toBeNull();
    expect((await proven.client.get("/v1/account")).status).toBe(200);
  });

  it("also deletes what requests in progress insert after it has begun, and then ends", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    const insert = env.DB.prepare(
      `insert into environments (id, organization_id, name, created_at, updated_at, project_id, configuration)
        values (?1, ?2, 'late', 1, 1, ?3, '{}')`,
    );
    await insert.bind(newId(systemClock), world.id, project.id).run();
    await new Instrumented().sweep();
    expect(await countPurged(world.id)).toBe(0);
    const late = newId(systemClock);
    await env.DB.batch([
      env.DB.prepare(
        "insert into accounts select ?1, ?1, name, display_name, avatar, profile, 1, 1, 1 from accounts where id = ?2",
      ).bind(late, world.accountId),
      env.DB.prepare(
        "insert into memberships (id, organization_id, account_id, role, created_at, updated_at) values (?1, ?2, ?1, 'owner', 1, 1)",
      ).bind(late, world.id),
    ]);
    await new Instrumented({ clock: settled() }).sweep();
    expect(sum(await countRows(world.id))).toBe(0);
    expect(await rowWith("accounts", late)).toBeNull();
    expect(await purgesOf(world.id)).toHaveLength(1);
    await new Instrumented({ clock: settled() }).sweep();
    expect(await purgesOf(world.id)).toEqual([]);
  });

  it("deletes at most 500 rows with a statement", async () => {
    const world = await newWorld();
    const source = "select * from audit_log where organization_id = ?2 limit 1";
    await join(world);
    const columns = Object.keys((await rowsIn("audit_log", world.id))[0] ?? {});
    const ids = Array.from({ length: 1200 }, () => newId(systemClock));
    await env.DB.prepare(
      `insert into audit_log select ${columns.map((name) => (name === "id" ? "item.value" : `source.${name}`))}
        from json_each(?1) as item join (${source}) as source`,
    )
      .bind(JSON.stringify(ids), world.id)
      .run();
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    const changes: number[] = [];
    const database = watchBatches((results) => {
      changes.push(...results.map(({ meta }) => meta.changes));
    });
    await new Instrumented({ database }).sweep();
    expect(await countPurged(world.id)).toBe(0);
    expect(Math.max(...changes)).toBe(LIMITS.purgeRows.value);
  });

  it("holds up no record of another tenant, nor the retention, however many are deleted", async () => {
    const deletedIds = await addDeletedOrganizations(120, { withProject: true });
    const world = await newWorld();
    const kept = await newProject(world.client);
    const project = await newProject(world.client);
    expect((await world.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    expect(await rowWith("projects", project.id)).not.toBeNull();
    await new Instrumented().sweep();
    expect(await rowWith("projects", project.id)).toBeNull();
    expect(await rowWith("projects", kept.id)).not.toBeNull();
    await repeatWhileLeft(9, "projects", deletedIds, () => new Instrumented().sweep());
    expect(await rowsOf("projects", deletedIds)).toBe(0);
    expect(await rowsOf("memberships", deletedIds)).toBe(120);
    await repeatWhileLeft(9, "purges", deletedIds, endPurge);
    expect(await rowsOf("memberships", deletedIds)).toBe(0);
    expect(await rowsOf("purges", deletedIds)).toBe(0);
  });

  it("does not wait for those that only wait for requests in progress", async () => {
    await addDeletedOrganizations(120, { withProject: false });
    const world = await newWorld();
    await newProject(world.client);
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    await new Instrumented().sweep();
    expect(await countPurged(world.id)).toBe(0);
  });

  it("comes in a random order, so that it does not wait for those before it", async () => {
    await addDeletedOrganizations(30, { withProject: true });
    const list = async () => {
      const listed = await listPurges(openForWriting(env.DB).db, OWNERSHIP.rootsOfOrganization(), {
        settledAt: 0,
        limit: 30,
      });
      return listed.map(({ id }) => id);
    };
    const [first, second] = [await list(), await list()];
    expect(first).toHaveLength(30);
    expect(second).not.toEqual(first);
  });
});
