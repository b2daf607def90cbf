import type { SystemContext } from "../../../context.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { deleteCreatedUntil } from "./store.ts";

const CHUNK = 500;

/** Removes the entries of requests that are too old to be repeated. */
export async function sweepEntries({ db, clock }: SystemContext): Promise<void> {
  const time = clock.now() - LIMITS.idempotencyMs.value;
  for (let removed = 0; removed < LIMITS.sweepIdempotencyEntries.value; removed += CHUNK) {
    const deleted = await deleteCreatedUntil(db, time, CHUNK);
    if (deleted.length < CHUNK) return;
  }
}
