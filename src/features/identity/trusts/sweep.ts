import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { deleteExpired } from "./store.ts";

const CHUNK = 500;

/** Removes expired keys and runner tokens of trusts, and the record of expired tokens. */
export async function removeExpired({ db, clock }: SystemContext): Promise<void> {
  const now = clock.now();
  for (let removed = 0; removed < LIMITS.sweepExpiredKeys.value; removed += CHUNK) {
    const results = Object.values(await batch(db, deleteExpired(db, now, CHUNK)));
    if (results.every(({ length }) => length < CHUNK)) return;
  }
}
