import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../../packages/server/src/command-error.ts";
import {
  BREAKPOINT,
  CREATE_APPLIED,
  type Migration,
  readMigrations as readFolder,
} from "../../packages/server/src/database/migrations.ts";
import { ROOT } from "./wrangler.ts";

export const MIGRATIONS_DIRECTORY = join(ROOT, "migrations");
/** Applies the pending migrations of a folder, each in a transaction. */
export async function applyMigrations(
  d1: D1Database,
  directory = MIGRATIONS_DIRECTORY,
): Promise<void> {
  await d1.prepare(CREATE_APPLIED).run();
  const { results } = await d1.prepare("select name from d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const [baseline] = readMigrations();
  if (applied.size > 0 && baseline && !applied.has(baseline.name)) {
    throw new CommandError(
      "The database is older than the baseline of the migrations. Bring it there: npm run adopt-baseline",
    );
  }
  const record = d1.prepare("insert into d1_migrations (name) values (?)");
  for (const { name, sql } of readMigrations(directory)) {
    if (applied.has(name)) continue;
    const statements = sql.split(BREAKPOINT).map((statement) => d1.prepare(statement));
    await d1.batch([...statements, record.bind(name)]);
  }
}

/** Changes with every change to a migration. */
export function digestMigrations(): string {
  return createHash("sha256").update(JSON.stringify(readMigrations())).digest("hex");
}

/** The text of each trigger and index that a database has after all migrations, by kind and name as in `readDefinitions`. */
export function migratedDefinitions(): Map<string, string> {
  const database = new DatabaseSync(":memory:");
  try {
    for (const { sql } of readMigrations()) database.exec(sql);
    const found = database
      .prepare(
        `select upper(type) || ' \`' || name || '\`' as name, sql from sqlite_master
        where type in ('trigger', 'index') and sql is not null`,
      )
      .all();
    return new Map(found.map(({ name, sql }) => [String(name), String(sql)]));
  } finally {
    database.close();
  }
}

export function readMigrations(directory = MIGRATIONS_DIRECTORY): Migration[] {
  return readFolder(directory);
}
