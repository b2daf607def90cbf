import type { SystemContext } from "../../../context.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { deleteDeletedUntil } from "./store.ts";

const CHUNK = 500;

/** Removes the resources that were deleted at the provider long ago. */
export async function sweepResources({ db, clock }: SystemContext): Promise<void> {
  const time = clock.now() - LIMITS.deletedResourceMs.value;
  for (let removed = 0; removed < LIMITS.sweepResources.value; removed += CHUNK) {
    const deleted = await deleteDeletedUntil(db, time, CHUNK);
    if (deleted.length < CHUNK) return;
  }
}
