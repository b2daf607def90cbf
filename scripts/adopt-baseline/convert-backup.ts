import { type BackupOptions, backup } from "../../packages/server/src/backup/backup.ts";
import { type RowLine, readRows } from "../../packages/server/src/backup/file.ts";
import { type Adoption, applyAll, replaceSchema } from "./adopt.ts";

const BATCH_ROWS = 50;

/**
 * The lines of a backup from before the baseline, as a backup of the tables of this checkout.
 * @param d1 An empty database, in which the rows are changed as `adopt` changes them.
 * @param lines A file that `verifyFile` has accepted.
 */
export async function* convertBackup(
  d1: D1Database,
  lines: AsyncIterable<string>,
  adoption: Adoption,
  options: BackupOptions,
): AsyncGenerator<string> {
  await createTables(d1, adoption);
  await insertAll(d1, lines);
  await replaceSchema(d1, adoption);
  await applyAll(d1, adoption.later);
  yield* backup(d1, options);
}

/** What the last migration ends, ends at this time (milliseconds), so that the result is the same each time. */
export function withoutClock(adoption: Adoption, now: number): Adoption {
  const seconds = String(Math.floor(now / 1_000));
  return {
    ...adoption,
    earlier: adoption.earlier.map(({ name, sql }) => ({
      name,
      sql: sql.replaceAll("unixepoch()", seconds),
    })),
  };
}

/** Without triggers, which count and refuse what is inserted in the middle of a life. */
export async function createTables(d1: D1Database, { earlier }: Adoption): Promise<void> {
  await d1.prepare("create table d1_migrations (id integer primary key, name text)").run();
  await applyAll(d1, earlier.slice(0, -1));
  const triggers = "select name from sqlite_master where type = 'trigger'";
  const { results } = await d1.prepare(triggers).all<{ name: string }>();
  await d1.batch(results.map(({ name }) => d1.prepare(`drop trigger "${name}"`)));
}

async function insertAll(d1: D1Database, lines: AsyncIterable<string>): Promise<void> {
  let rows: RowLine[] = [];
  const flush = async () => {
    if (rows.length > 0) await d1.batch(rows.map((line) => insertRow(d1, line)));
    rows = [];
  };
  for await (const line of readRows(lines)) {
    rows.push(line);
    if (rows.length === BATCH_ROWS) await flush();
  }
  await flush();
}

/** Whether a row's names can be in a statement. The tables before the baseline are no longer known here. */
export function isRowBeforeBaseline({ table, row }: RowLine): boolean {
  return [table, ...Object.keys(row)].every((name) => /^\w+$/.test(name));
}

/** @param line Of `isRowBeforeBaseline`. */
export function insertRow(d1: D1Database, { table, row }: RowLine): D1PreparedStatement {
  const columns = Object.keys(row);
  const names = columns.map((column) => `"${column}"`).join(", ");
  const places = columns.map(() => "?").join(", ");
  return d1
    .prepare(`insert into "${table}" (${names}) values (${places})`)
    .bind(...Object.values(row));
}
