import type { Database } from "../../db/client.ts";
import type { SealedColumn } from "../../lib/cipher.ts";
import { type Cipher, DecryptionError } from "../../lib/cipher.ts";
import { listSealedUnderOtherKeys, reseal, type SealedRow } from "./store.ts";

/** What came of one batch. */
export interface RotationBatch {
  /** How many texts are under the current key now, and were not before. */
  resealed: number;
  /** The IDs of rows whose text no key of the keyring opens; they are left as they are. */
  unreadable: string[];
  /** Where the next batch begins; undefined once all rows have been met. */
  next: string | undefined;
}

/**
 * Seals up to `size` texts of a column anew under the keyring's current key, beginning after the row
 * `after`. Every text stays readable throughout, and none is lost: a row is written only if its
 * sealed text is still the one that was opened. So it may be interrupted anywhere, and run again
 * from anywhere.
 */
export async function rotateBatch(
  db: Database,
  cipher: Cipher,
  column: SealedColumn,
  page: { after: string; size: number },
): Promise<RotationBatch> {
  const rows = await listSealedUnderOtherKeys(db, column, cipher.currentKeyId, page);
  const anew = await Promise.all(rows.map((row) => sealAnew(cipher, column, row)));
  const readable = rows.flatMap((row, index) => {
    const sealed = anew[index];
    return sealed === undefined ? [] : [{ ...row, anew: sealed }];
  });
  return {
    resealed: await reseal(db, column, readable),
    unreadable: rows.filter((_, index) => anew[index] === undefined).map(({ id }) => id),
    next: rows.length === page.size ? rows.at(-1)?.id : undefined,
  };
}

/** Undefined for a text that does not open. */
async function sealAnew(
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
