import type { Database } from "../../db/client.ts";
import type { SealedColumn } from "../../lib/cipher.ts";

export interface SealedRow {
  id: string;
  organizationId: string;
  sealed: string;
}

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

/** Compare-and-set: skips rows whose sealed text has changed. Returns the number of updated rows. */
export async function reseal(
  db: Database,
  { table, column }: SealedColumn,
  rows: readonly (SealedRow & { resealed: string })[],
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
