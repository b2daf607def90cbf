import { and, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { deliveries } from "../../db/schema.ts";
import { RETRY_DELAYS_MS } from "./schedule.ts";

/**
 * Fails those of these deliveries that should have been sent by now, that nobody is sending, and that
 * were begun more often than an endpoint is ever asked. Whatever else the queue has given up, as in an
 * outage of ours, is alive: the sweep rings for it.
 */
export function failOverdue(db: Database, ids: readonly string[], now: number) {
  return db
    .update(deliveries)
    .set({ status: "failed", claimedUntil: null, updatedAt: now, finishedAt: now })
    .where(
      and(
        sql`${deliveries.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        sql`${deliveries.status} = 'pending' and ${deliveries.dueAt} <= ${now}`,
        sql`${deliveries.attempts} > ${RETRY_DELAYS_MS.length}`,
        sql`(${deliveries.claimedUntil} is null or ${deliveries.claimedUntil} <= ${now})`,
      ),
    )
    .returning({ id: deliveries.id });
}

/** Takes up what the queue should have rung for, and puts the next look at it off. For `commit`. */
export function takeUpOverdue(
  db: Database,
  now: number,
  { limit, nextMs }: { limit: number; nextMs: number },
) {
  return db
    .update(deliveries)
    .set({ sweepAt: now + nextMs })
    .where(
      // Says what the partial index holds, which a parameter could not.
      sql`${deliveries.id} in (select id from deliveries as overdue
        where overdue.status = 'pending' and overdue.sweep_at <= ${now}
        order by overdue.sweep_at limit ${limit})`,
    )
    .returning({ deliveryId: sql<string>`id`.as("delivery_id") });
}
