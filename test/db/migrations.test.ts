import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

interface Table {
  name: string;
  columns: { name: string; type: string; notnull: number }[];
  foreignKeys: { from: string; table: string; to: string; on_delete: string }[];
}

async function readTables(): Promise<Table[]> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' and name <> 'd1_migrations'",
  ).all<{ name: string }>();
  return Promise.all(
    results.map(async ({ name }) => ({
      name,
      columns: (await env.DB.prepare(`pragma table_info(${name})`).all<Table["columns"][0]>())
        .results,
      foreignKeys: (
        await env.DB.prepare(`pragma foreign_key_list(${name})`).all<Table["foreignKeys"][0]>()
      ).results,
    })),
  );
}

/** Inserts one row into every empty table, parents before children. */
async function seed(): Promise<void> {
  const tables = await readTables();
  const ready = new Set<string>();
  while (ready.size < tables.length) {
    const [next] = tables.filter(
      ({ name, foreignKeys }) =>
        !ready.has(name) && foreignKeys.every(({ table }) => table === name || ready.has(table)),
    );
    if (!next) throw new Error("The foreign keys of the tables form a cycle");
    await insertRow(next);
    ready.add(next.name);
  }
}

async function insertRow({ name, columns, foreignKeys }: Table): Promise<void> {
  if ((await countRows(name)) > 0) return;
  const sample = (column: Table["columns"][0]) => {
    if (foreignKeys.some(({ from }) => from === column.name)) return "seed";
    if (column.type.toLowerCase() === "integer") return 1;
    return "seed";
  };
  const places = columns.map(() => "?").join(", ");
  await env.DB.prepare(`insert into ${name} values (${places})`)
    .bind(...columns.map(sample))
    .run();
}

async function countRows(table: string): Promise<number> {
  return Number(await env.DB.prepare(`select count(*) as n from ${table}`).first("n"));
}

describe("migrations", () => {
  it("lose no rows when they are applied one by one to a database with rows", async () => {
    await reset();
    const counts = new Map<string, number>();
    for (const migration of env.TEST_MIGRATIONS) {
      await applyD1Migrations(env.DB, [migration]);
      for (const [table, count] of counts) expect(await countRows(table), table).toBe(count);
      await seed();
      for (const { name } of await readTables()) counts.set(name, await countRows(name));
    }
    expect(counts.size).toBeGreaterThan(0);
    expect([...counts.values()].every((count) => count > 0)).toBe(true);
    const { results } = await env.DB.prepare("pragma foreign_key_check").all();
    expect(results).toEqual([]);
  });

  it("count the rows and bytes of a database with rows, and install the usage triggers", async () => {
    await reset();
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith("0006"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    await seed();
    await env.DB.batch(
      ["a", "b"].map((id) =>
        env.DB.prepare(
          `insert into projects (id, organization_id, name, description, default_environment_id,
             connection_status, created_at, updated_at)
           values (?1, 'seed', ?1, 'Ünïcode', ?1, 'disconnected', 0, 0)`,
        ).bind(id),
      ),
    );
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const { results } = await env.DB.prepare("select * from usage order by kind").all<{
      kind: string;
      records: number;
      bytes: number;
    }>();
    expect(results).toHaveLength(13);
    const usage = results.find(({ kind }) => kind === "projects");
    // The seeded row has "seed" in each of its three text columns.
    expect(usage).toMatchObject({ records: 3, bytes: 3 * 4 + 2 * (1 + "Ünïcode".length + 2) });
    const { sql } = (await env.DB.prepare(
      "select sql from sqlite_master where name = 'usage_projects_insert'",
    ).first<{ sql: string }>()) ?? { sql: "" };
    expect(sql).toContain("AFTER INSERT ON `projects`");
  });

  it("make every foreign key ON DELETE RESTRICT", async () => {
    const tables = await readTables();
    const keys = tables.flatMap(({ foreignKeys }) => foreignKeys);
    expect(keys.length).toBeGreaterThan(0);
    expect(new Set(keys.map(({ on_delete }) => on_delete))).toEqual(new Set(["RESTRICT"]));
  });

  it("give every table an organization_id, except accounts and organizations", async () => {
    const tables = await readTables();
    const without = tables.filter(
      ({ columns }) => !columns.some(({ name }) => name === "organization_id"),
    );
    expect(without.map(({ name }) => name).toSorted()).toEqual(["accounts", "organizations"]);
  });
});
