import type { D1Migration } from "@cloudflare/vitest-pool-workers";
import { type RowLine, readRows } from "../../packages/server/src/backup/file.ts";
import type { Adoption } from "../../scripts/adopt-baseline/adopt.ts";
import { insertRow } from "../../scripts/adopt-baseline/convert-backup.ts";
import { readSchema } from "../../scripts/lib/schema.ts";
import backup from "../fixtures/before-baseline.ndjson?raw";
import others from "../fixtures/before-baseline-others.ndjson?raw";
import { collect, iterate } from "./backups.ts";
import { emptyDatabase } from "./empty-database.ts";

const FILES = import.meta.glob<string>("../../scripts/adopt-baseline/migrations/*.sql", {
  query: "?raw",
  import: "default",
  eager: true,
});
const BREAKPOINT = "--> statement-breakpoint";

/** What the last commit before the baseline has written: `npm run backup`, and the tables that are in no backup. */
export const BACKUP_LINES = backup.trimEnd().split("\n");

/** @param scratch A database for the schemas to compare with. */
export function adoptionWith(scratch: D1Database, migrations: readonly D1Migration[]): Adoption {
  const [baseline = { name: "", sql: "" }, ...later] = migrations.map(({ name, queries }) => ({
    name,
    sql: queries.join(BREAKPOINT),
  }));
  const earlier = Object.entries(FILES)
    .map(([path, sql]) => ({ name: path.split("/").at(-1) ?? "", sql }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    earlier,
    baseline,
    later,
    async schemaAfter(migrations) {
      await emptyDatabase(scratch);
      for (const { sql } of migrations) await run(scratch, sql.split(BREAKPOINT));
      return readSchema(async (sql) => (await scratch.prepare(sql).all()).results);
    },
  };
}

/**
 * Brings a database to what the last commit before the baseline left: its tables, triggers and rows.
 * @param count Of the first migrations. Fewer than all leave the tables empty.
 */
export async function createBeforeBaseline(
  d1: D1Database,
  { earlier }: Adoption,
  count = earlier.length - 1,
): Promise<void> {
  const migrations = earlier.slice(0, count);
  await emptyDatabase(d1);
  await d1.prepare("create table d1_migrations (id integer primary key, name text)").run();
  for (const { name, sql } of migrations) {
    await run(d1, sql.split(BREAKPOINT));
    await d1.prepare("insert into d1_migrations (name) values (?)").bind(name).run();
  }
  if (count < earlier.length - 1) return;
  const { results: triggers } = await d1
    .prepare("select name, sql from sqlite_master where type = 'trigger'")
    .all<{ name: string; sql: string }>();
  // They would count and refuse what is inserted in the middle of a life.
  await run(
    d1,
    triggers.map(({ name }) => `drop trigger "${name}"`),
  );
  const rows = await collect(readRows(iterate(BACKUP_LINES)));
  const rest = others
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RowLine);
  await d1.batch([...rows, ...rest].map((line) => insertRow(d1, line)));
  await run(
    d1,
    triggers.map(({ sql }) => sql),
  );
}

export async function run(d1: D1Database, statements: readonly string[]): Promise<void> {
  if (statements.length > 0) await d1.batch(statements.map((sql) => d1.prepare(sql)));
}
