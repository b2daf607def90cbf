import { sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { OVERDUE_MS } from "../../housekeeping/outbox/model.ts";
import { deliveries } from "../../housekeeping/outbox/table.ts";

const MAX_WAKE_UPS = LIMITS.sweepDeliveries.value;

/**
 * Wakes consumers for deliveries that are overdue: their messages were lost or never sent. A
 * consumer that is awake sends all that is due, so that few have to be named.
 */
export async function sweepDeliveries(ctx: SystemContext): Promise<void> {
  const overdue = await findOverdue(ctx.db, ctx.clock.now());
  if (overdue.length > 0) ctx.enqueue(overdue);
}

/** One of each integration that waits and is not paused: a pause is enqueued with its end. */
function findOverdue(db: Database, now: number) {
  return db
    .select({ deliveryId: sql<string>`min(${deliveries.id})`.as("delivery_id") })
    .from(deliveries)
    .where(sql`${deliveries.status} = 'pending' and ${deliveries.dueAt} <= ${now - OVERDUE_MS}`)
    .groupBy(deliveries.organizationId, deliveries.integrationId)
    .having(
      sql`not exists (select 1 from integrations where integrations.id = ${deliveries.integrationId}
        and integrations.disabled_at is null and integrations.paused_until > ${now})`,
    )
    .limit(MAX_WAKE_UPS);
}
