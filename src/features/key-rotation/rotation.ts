import type { Database } from "../../db/client.ts";
import type { SealedColumn } from "../../lib/cipher.ts";
import { type Cipher, DecryptionError } from "../../lib/cipher.ts";
import { listSealedUnderOtherKeys, reseal, type SealedRow } from "./store.ts";

export interface RotationBatch {
  /** The number of texts that this batch sealed under the current key. */
  resealed: number;
  /** The IDs of rows whose text no key of the keyring opens. They stay unchanged. */
  unreadable: string[];
  /** `after` of the next batch; undefined after the last one. */
  next: string | undefined;
}

/**
 * Seals up to `size` texts of a column again under the current key, after the row `after`. It may be
 * interrupted and repeated at any point: a row is written only if its sealed text is unchanged.
 */
export async function rotateBatch(
  db: Database,
  cipher: Cipher,
  column: SealedColumn,
  page: { after: string; size: number },
): Promise<RotationBatch> {
  const rows = await listSealedUnderOtherKeys(db, column, cipher.currentKeyId, page);
  const results = await Promise.all(rows.map((row) => resealText(cipher, column, row)));
  const readable = rows.flatMap((row, index) => {
    const resealed = results[index];
    return resealed === undefined ? [] : [{ ...row, resealed }];
  });
  return {
    resealed: await reseal(db, column, readable),
    unreadable: rows.filter((_, index) => results[index] === undefined).map(({ id }) => id),
    next: rows.length === page.size ? rows.at(-1)?.id : undefined,
  };
}

async function resealText(
  cipher: Cipher,
  column: SealedColumn,
  row: SealedRow,
): Promise<string | undefined> {
  const context = column.contextOf(row.organizationId, row.id);
  try {
    return await cipher.seal(await cipher.open(row.sealed, context), context);
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
