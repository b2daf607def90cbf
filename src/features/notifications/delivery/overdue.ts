import { and, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import type { FailureReason } from "../outbox/model.ts";
import { deliveries } from "../outbox/table.ts";
import { RETRY_DELAYS_MS } from "./retry-schedule.ts";

const NOT_HANDLED: FailureReason = "not_handled";

/**
 * Fails the overdue deliveries among these that no consumer sends, and of which as many claims ended
 * without a recorded attempt as an endpoint is ever asked. The sweep enqueues all others again.
 */
export function failDeadLetters(db: Database, ids: readonly string[], now: number) {
  return db
    .update(deliveries)
    .set({
      status: "failed",
      failureReason: NOT_HANDLED,
      claimedUntil: null,
      updatedAt: now,
      finishedAt: now,
    })
    .where(
      and(
        sql`${deliveries.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        sql`${deliveries.status} = 'pending' and ${deliveries.dueAt} <= ${now}`,
        sql`${deliveries.attempts} - (select count(*) from delivery_attempts as made
          where made.delivery_id = ${deliveries.id}) > ${RETRY_DELAYS_MS.length}`,
        sql`(${deliveries.claimedUntil} is null or ${deliveries.claimedUntil} <= ${now})`,
      ),
    )
    .returning({ id: deliveries.id });
}

/** Overdue deliveries, longest overdue first, which are not overdue again for `nextMs`. For `commit`. */
export function claimOverdue(
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
