import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { emptyDatabase } from "../support/empty-database.ts";

interface Table {
  name: string;
  columns: { name: string; type: string; notnull: number }[];
  foreignKeys: { from: string; table: string; to: string; on_delete: string }[];
}

async function readTables(): Promise<Table[]> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' and name <> 'd1_migrations'",
  ).all<{ name: string }>();
  const names = results.map(({ name }) => name);
  const pragma = (of: string) => names.map((name) => env.DB.prepare(`pragma ${of}(${name})`));
  const columns = await env.DB.batch<Table["columns"][0]>(pragma("table_info"));
  const foreignKeys = await env.DB.batch<Table["foreignKeys"][0]>(pragma("foreign_key_list"));
  return names.map((name, at) => ({
    name,
    columns: columns[at]?.results ?? [],
    foreignKeys: foreignKeys[at]?.results ?? [],
  }));
}

/** All that a database has: its objects, and its rows, except when they were applied. */
async function readDatabase() {
  const { results: objects } = await env.DB.prepare(
    "select type, name, sql from sqlite_master where name not like 'sqlite|_%' escape '|' and name not like '|_cf|_%' escape '|' and name <> 'd1_migrations' order by type, name",
  ).all<{ type: string; name: string; sql: string }>();
  const tables = objects.filter(({ type }) => type === "table").map(({ name }) => name);
  const rows = tables.map(async (name) => [
    name,
    (await env.DB.prepare(`select * from ${name}`).all()).results,
  ]);
  const { results: applied } = await env.DB.prepare(
    "select id, name from d1_migrations order by id",
  ).all();
  return { objects, rows: await Promise.all(rows), applied };
}

describe("migrations", () => {
  it("result in the database that the other tests use", async () => {
    const used = await readDatabase();
    await emptyDatabase(env.DB);
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const migrated = await readDatabase();
    expect(migrated.objects.length).toBeGreaterThan(50);
    expect(migrated.applied).toHaveLength(env.TEST_MIGRATIONS.length);
    expect(used).toEqual(migrated);
  });

  it("make every foreign key ON DELETE RESTRICT", async () => {
    const tables = await readTables();
    const keys = tables.flatMap(({ foreignKeys }) => foreignKeys);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter(({ on_delete }) => on_delete !== "RESTRICT")).toEqual([]);
  });

  it("give every table an organization_id, except accounts, organizations, the positions of tables, and parts of revocations", async () => {
    const tables = await readTables();
    const without = tables.filter(
      ({ columns }) => !columns.some(({ name }) => name === "organization_id"),
    );
    expect(without.map(({ name }) => name).toSorted()).toEqual([
      "accounts",
      "history_positions",
      "organizations",
      "revocation_parts",
    ]);
  });
});
