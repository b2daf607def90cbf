import type { Database } from "../../db/client.ts";
import { type Cipher, SealBroken } from "../../lib/cipher.ts";
import { placeOf } from "./place.ts";
import { listSealedUnderOtherKeys, reseal, type SealedRow } from "./store.ts";

/** What came of one batch. */
export interface RotationBatch {
  /** How many values are under the current key now, and were not before. */
  resealed: number;
  /** The IDs of values that no key of the keyring opens; they are left as they are. */
  unreadable: string[];
  /** Where the next batch begins; undefined once all values have been met. */
  next: string | undefined;
}

/**
 * Seals up to `size` values anew under the keyring's current key, beginning after the row `after`.
 * Every value stays readable throughout, and none is lost: a row is written only if its sealed text
 * is still the one that was opened. So it may be interrupted anywhere, and run again from anywhere.
 */
export async function rotateBatch(
  db: Database,
  cipher: Cipher,
  { after, size }: { after: string; size: number },
): Promise<RotationBatch> {
  const rows = await listSealedUnderOtherKeys(db, cipher.currentKeyId, after, size);
  const anew = await Promise.all(rows.map((row) => sealAnew(cipher, row)));
  const [first, ...rest] = rows.flatMap((row, index) => {
    const sealed = anew[index];
    return sealed === undefined ? [] : [reseal(db, row, sealed)];
  });
  const results = first ? await db.batch([first, ...rest]) : [];
  return {
    resealed: results.filter((changed) => changed.length > 0).length,
    unreadable: rows.filter((_, index) => anew[index] === undefined).map(({ id }) => id),
    next: rows.length === size ? rows.at(-1)?.id : undefined,
  };
}

/** Undefined for a value that does not open. */
async function sealAnew(cipher: Cipher, row: SealedRow): Promise<string | undefined> {
  const place = placeOf(row.organizationId, row.id);
  try {
    return await cipher.seal(await cipher.open(row.value, place), place);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
