import type { Database } from "../../../db/client.ts";
import type { SealedColumn } from "../../../db/sealed-column.ts";
import { type Cipher, DecryptionError } from "../../../lib/cipher.ts";
import { countSealed, listOutdated, reseal, type SealedRow } from "./store.ts";

/**
 * How long an isolate may still seal with the keyring or the release that a deployment replaced. It
 * allows a minute to replace all isolates, 30 s for requests in progress (what Cloudflare grants
 * after a disconnect), and 30 s for a batch of D1 (its limit).
 */
export const REPLACED_ISOLATES_END_MS = 120_000;

const BATCH_SIZE = 50;

export interface RotationBatch {
  /** The number of texts that this batch sealed under the current key. */
  resealed: number;
  /** The IDs of rows whose text no key of the keyring opens. They stay unchanged. */
  unreadable: string[];
  /** `after` of the next batch; undefined after the last one. */
  next: string | undefined;
}

export interface RotationPass {
  resealed: number;
  /** As in `variables.value of <row ID>`. */
  unreadable: string[];
}

export interface Rotation extends RotationPass {
  /** The number of sealed texts. */
  all: number;
  /** The number of texts under other keys or in an earlier form, including the unreadable ones. */
  outdated: number;
}

/**
 * Seals all texts again under the current key and in the current form. The second pass is for the
 * texts that replaced isolates seal after the first: `beforeSecondPass` waits until they have ended.
 */
export async function rotateAll(
  db: Database,
  cipher: Cipher,
  columns: readonly SealedColumn[],
  beforeSecondPass: (first: RotationPass) => Promise<void>,
): Promise<Rotation> {
  await beforeSecondPass(await rotateColumns(db, cipher, columns));
  const second = await rotateColumns(db, cipher, columns);
  const counts = await Promise.all(
    columns.map((column) => countSealed(db, column, cipher.currentPrefix)),
  );
  const sum = (name: "all" | "outdated") =>
    counts.reduce((total, { [name]: count }) => total + count, 0);
  return { ...second, all: sum("all"), outdated: sum("outdated") };
}

async function rotateColumns(
  db: Database,
  cipher: Cipher,
  columns: readonly SealedColumn[],
): Promise<RotationPass> {
  const pass: RotationPass = { resealed: 0, unreadable: [] };
  for (const column of columns) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page = { after, size: BATCH_SIZE };
      const batch: RotationBatch = await rotateBatch(db, cipher, column, page);
      pass.resealed += batch.resealed;
      pass.unreadable.push(
        ...batch.unreadable.map((id) => `${column.table}.${column.column} of ${id}`),
      );
      after = batch.next;
    }
  }
  return pass;
}

/**
 * Seals up to `size` texts of a column again, after the row `after`. It may be interrupted and
 * repeated at any point: a row is written only if its sealed text is unchanged.
 */
export async function rotateBatch(
  db: Database,
  cipher: Cipher,
  column: SealedColumn,
  page: { after: string; size: number },
): Promise<RotationBatch> {
  const rows = await listOutdated(db, column, cipher.currentPrefix, page);
  const results = await Promise.all(rows.map((row) => resealText(cipher, column, row)));
  const readable = rows.flatMap(({ id, sealed }, index) => {
    const resealed = results[index];
    return resealed === undefined ? [] : [{ id, sealed, resealed }];
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
  const context = column.contextOf(row);
  try {
    return await cipher.seal(await cipher.open(row.sealed, context), context);
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
