import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import * as store from "./store.ts";

const CHUNK = 500;
/** Of stacks with at most 1,000 resources each. */
const COUNTED_STACKS = 20;

/** Removes the resources that were deleted at the provider long ago, and counts those that have changed. */
export async function sweepResources(ctx: SystemContext): Promise<void> {
  await removeDeleted(ctx);
  for (let counted = 0; counted < LIMITS.sweepStacks.value; counted += COUNTED_STACKS) {
    const stacks = await store.countChanged(ctx.db, COUNTED_STACKS);
    if (stacks.length < COUNTED_STACKS) return;
  }
}

async function removeDeleted({ db, clock }: SystemContext): Promise<void> {
  const now = clock.now();
  const time = now - LIMITS.deletedResourceMs.value;
  for (let removed = 0; removed < LIMITS.sweepResources.value; removed += CHUNK) {
    const { deleted } = await batch(db, store.deleteDeletedUntil(db, time, CHUNK, now));
    if (deleted.length < CHUNK) return;
  }
}
