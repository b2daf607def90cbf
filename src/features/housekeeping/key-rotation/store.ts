import type { Database } from "../../../db/client.ts";
import type { SealedColumn } from "../../../db/sealed-column.ts";

/** With the keys of its column. */
export interface SealedRow extends Record<string, unknown> {
  id: string;
  sealed: string;
}

/**
 * Lists the texts with another beginning: those under other keys, and those in the form `v1`. A
 * tombstone has an empty text.
 */
export async function listOutdated(
  db: Database,
  { table, column, keys }: SealedColumn,
  prefix: string,
  { after, size }: { after: string; size: number },
): Promise<SealedRow[]> {
  const selected = Object.entries(keys).map(([name, key]) => `${key} as ${name}`);
  const statement = db.$client.prepare(
    `select ${selected.join(", ")}, ${column} as sealed from ${table}
      where id > ? and ${column} <> '' and instr(${column}, ?) <> 1 order by id limit ?`,
  );
  return (await statement.bind(after, prefix, size).all<SealedRow>()).results;
}

export async function countSealed(
  db: Database,
  { table, column }: SealedColumn,
  prefix: string,
): Promise<{ all: number; outdated: number }> {
  const statement = db.$client.prepare(
    `select count(*) as "all", count(iif(instr(${column}, ?) <> 1, 1, null)) as outdated
      from ${table} where ${column} <> ''`,
  );
  const counts = await statement.bind(prefix).first<{ all: number; outdated: number }>();
  return counts ?? { all: 0, outdated: 0 };
}

/** Compare-and-set: skips rows whose sealed text has changed. Returns the number of updated rows. */
export async function reseal(
  db: Database,
  { table, column }: SealedColumn,
  rows: readonly { id: string; sealed: string; resealed: string }[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const update = db.$client.prepare(
    `update ${table} set ${column} = ? where id = ? and ${column} = ? returning id`,
  );
  const results = await db.$client.batch(
    rows.map(({ id, sealed, resealed }) => update.bind(resealed, id, sealed)),
  );
  // Not `meta.changes`: it includes the changes of triggers.
  return results.reduce((sum, { results: updated }) => sum + updated.length, 0);
}
