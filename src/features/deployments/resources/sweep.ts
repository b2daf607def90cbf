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
  await countChanged(ctx);
}

/** In turns over the organizations, so that none waits for the stacks of another. */
async function countChanged({ db }: SystemContext): Promise<void> {
  const most = LIMITS.sweepStacks.value;
  let waiting = await store.listChangedOrganizations(db, most);
  for (let counted = 0; waiting.length > 0 && counted < most; ) {
    const room = Math.min(COUNTED_STACKS, most - counted);
    const turn = waiting.slice(0, room);
    const ofEach = Math.floor(room / turn.length);
    const stacks = await store.countChanged(db, turn, ofEach);
    counted += stacks.length;
    const byOrganization = Map.groupBy(stacks, ({ organizationId }) => organizationId);
    const unfinished = turn.filter((id) => byOrganization.get(id)?.length === ofEach);
    waiting = [...waiting.slice(turn.length), ...unfinished];
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
