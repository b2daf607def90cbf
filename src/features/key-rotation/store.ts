import type { Database } from "../../db/client.ts";
import type { SealedColumn } from "../../lib/cipher.ts";

/** A sealed text, and the row that it is in. */
export interface SealedRow {
  id: string;
  organizationId: string;
  sealed: string;
}

/** Texts of a column that are not sealed under this key, in the order of their rows. */
export async function listSealedUnderOtherKeys(
  db: Database,
  { table, column }: SealedColumn,
  keyId: string,
  { after, size }: { after: string; size: number },
): Promise<SealedRow[]> {
  const statement = db.$client.prepare(
    `select id, organization_id as organizationId, ${column} as sealed from ${table}
      where id > ? and instr(${column}, ?) <> 1 order by id limit ?`,
  );
  return (await statement.bind(after, `${keyId}.`, size).all<SealedRow>()).results;
}

/**
 * Puts each text `anew` in the place of the sealed one, if that is still what was read; gives how
 * many it has put there.
 */
export async function reseal(
  db: Database,
  { table, column }: SealedColumn,
  rows: readonly (SealedRow & { anew: string })[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const update = db.$client.prepare(
    `update ${table} set ${column} = ? where id = ? and ${column} = ? returning id`,
  );
  const results = await db.$client.batch(
    rows.map(({ id, sealed, anew }) => update.bind(anew, id, sealed)),
  );
  // The number of changes that D1 gives includes those of triggers.
  return results.reduce((sum, { results: written }) => sum + written.length, 0);
}
