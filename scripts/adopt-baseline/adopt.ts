import { CommandError } from "../../packages/server/src/command-error.ts";
import type { Migration } from "../../packages/server/src/database/migrations.ts";
import { findDifferences, readSchema, type Schema } from "../lib/schema.ts";

const BREAKPOINT = "--> statement-breakpoint";
const LISTED_DIFFERENCES = 20;

/** What leads from a database without the baseline to one with it. */
export interface Adoption {
  /** The migrations before the baseline, oldest first. The last one works only as a part of `replaceSchema`. */
  earlier: readonly Migration[];
  baseline: Migration;
  later: readonly Migration[];
  /** The schema of a new database after these migrations. */
  schemaAfter(migrations: readonly Migration[]): Promise<Schema>;
}

/**
 * Brings a database of the migrations before the baseline to the baseline. Returns whether it had to.
 * @throws CommandError if its tables, indexes, keys or triggers are not those of its migrations. Nothing is
 *   changed then.
 */
export async function adopt(d1: D1Database, adoption: Adoption): Promise<boolean> {
  const applied = await readApplied(d1);
  if (applied.includes(adoption.baseline.name)) return false;
  const before = adoption.earlier.slice(0, applied.length);
  requireKnown(applied, before);
  await requireSchema(d1, await adoption.schemaAfter(before));
  await applyAll(d1, adoption.earlier.slice(applied.length, -1));
  await replaceSchema(d1, adoption);
  return true;
}

/** Applies migrations, without the last before the baseline, each in a transaction. */
export async function applyAll(d1: D1Database, migrations: readonly Migration[]): Promise<void> {
  const record = d1.prepare("insert into d1_migrations (name) values (?)");
  for (const { name, sql } of migrations) {
    const statements = splitMigration(sql).map((statement) => d1.prepare(statement));
    await d1.batch([...statements, record.bind(name)]);
  }
}

/** In one transaction: all triggers go, the last migration changes tables and rows, the baseline's triggers come. */
export async function replaceSchema(
  d1: D1Database,
  { earlier, baseline }: Pick<Adoption, "earlier" | "baseline">,
): Promise<void> {
  const triggers = "select name from sqlite_master where type = 'trigger'";
  const { results } = await d1.prepare(triggers).all<{ name: string }>();
  const created = splitMigration(baseline.sql).filter((each) => /^CREATE TRIGGER/m.test(each));
  const statements = [
    ...results.map(({ name }) => `DROP TRIGGER "${name}"`),
    ...splitMigration(earlier.at(-1)?.sql ?? ""),
    ...created,
    "DELETE FROM d1_migrations",
  ].map((statement) => d1.prepare(statement));
  const record = d1.prepare("insert into d1_migrations (name) values (?)").bind(baseline.name);
  await d1.batch([...statements, record]);
}

export function splitMigration(sql: string): string[] {
  return sql.split(BREAKPOINT);
}

async function readApplied(d1: D1Database): Promise<string[]> {
  const exists = "select 1 from sqlite_master where name = 'd1_migrations'";
  if (!(await d1.prepare(exists).first())) return [];
  const names = "select name from d1_migrations order by id";
  return (await d1.prepare(names).all<{ name: string }>()).results.map(({ name }) => name);
}

function requireKnown(applied: readonly string[], known: readonly Migration[]): void {
  if (applied.length === 0) {
    throw new CommandError("The database has no tables, so there is nothing to adopt.");
  }
  if (applied.join() === known.map(({ name }) => name).join()) return;
  throw new CommandError(
    `The database has migrations of another checkout, so nothing was changed: ${applied.join(", ")}.`,
  );
}

async function requireSchema(d1: D1Database, expected: Schema): Promise<void> {
  const found = await readSchema(async (sql) => (await d1.prepare(sql).all()).results);
  const differences = findDifferences(found, expected);
  if (differences.length === 0) return;
  const more = differences.length - LISTED_DIFFERENCES;
  throw new CommandError(
    [
      "The database is not as its migrations have made it, so nothing was changed. These parts differ:",
      ...differences.slice(0, LISTED_DIFFERENCES).map((name) => `  ${name}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
      "Make a backup with the commit that the database runs (npm run backup), and restore it with this " +
        "one into an empty database (npm run restore).",
    ].join("\n"),
  );
}
