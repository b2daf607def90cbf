import type { SystemContext } from "../../../context.ts";
import { commit } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { claimOverdue } from "./overdue.ts";

/** Ten calls of the queue. */
const BATCH = 1_000;
/** A delivery that was enqueued is not overdue again for so long. */
const NEXT_MS = 5 * 60_000;

/**
 * Enqueues the deliveries that the queue has lost or was never sent, until none is overdue. The bound
 * on their number keeps the run within the subrequests of one invocation.
 */
export async function sweepDeliveries(ctx: SystemContext): Promise<void> {
  const startedAt = ctx.clock.now();
  const isInTime = () => ctx.clock.now() - startedAt < LIMITS.sweepMs.value;
  let enqueued = 0;
  do {
    const options = { limit: BATCH, nextMs: NEXT_MS };
    const { claimed } = await commit(ctx, { claimed: claimOverdue(ctx.db, startedAt, options) });
    enqueued += claimed.length;
    if (claimed.length < BATCH) return;
  } while (isInTime() && enqueued < LIMITS.sweepDeliveries.value);
}
