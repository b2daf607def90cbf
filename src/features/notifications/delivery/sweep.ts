import { sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { commit } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { deliveries } from "../outbox/table.ts";

/** Ten calls of `sendBatch`. */
const BATCH = 1_000;
const NEXT_SWEEP_MS = 5 * 60_000;

/**
 * Enqueues the deliveries whose messages were lost or never sent, until none is overdue. The limit on
 * their number keeps the run within the subrequests of one invocation.
 */
export async function sweepDeliveries(ctx: SystemContext): Promise<void> {
  const startedAt = ctx.clock.now();
  const isInTime = () => ctx.clock.now() - startedAt < LIMITS.sweepMs.value;
  let enqueued = 0;
  do {
    const { overdue } = await commit(ctx, { overdue: claimOverdue(ctx.db, startedAt) });
    enqueued += overdue.length;
    if (overdue.length < BATCH) return;
  } while (isInTime() && enqueued < LIMITS.sweepDeliveries.value);
}

/** `commit` enqueues the IDs that this returns. */
function claimOverdue(db: Database, now: number) {
  return db
    .update(deliveries)
    .set({ sweepAt: now + NEXT_SWEEP_MS })
    .where(
      // The literal status lets SQLite use the partial index; a parameter would not.
      sql`${deliveries.id} in (select id from deliveries as overdue
        where overdue.status = 'pending' and overdue.sweep_at <= ${now}
        order by overdue.sweep_at limit ${BATCH})`,
    )
    .returning({ deliveryId: sql<string>`id`.as("delivery_id") });
}
