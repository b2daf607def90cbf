import { and, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { describeError } from "../../../lib/log.ts";
import type { FailureReason } from "../outbox/model.ts";
import { deliveries } from "../outbox/table.ts";
import type { DeliveryMessage } from "./queue-message.ts";
import { RETRY_DELAYS_MS } from "./retry-schedule.ts";

export async function handleDeadLetters(
  { db, clock, log }: SystemContext,
  batch: MessageBatch<DeliveryMessage>,
): Promise<void> {
  const ids = batch.messages.map(({ body }) => body.delivery_id);
  try {
    const failed = await failUnhandled(db, ids, clock.now());
    log("error", "delivery.dead", { messages: ids.length, failed: failed.map(({ id }) => id) });
    batch.ackAll();
  } catch (error) {
    log("error", "dead_letters.not_handled", describeError(error));
    batch.retryAll();
  }
}

const NOT_HANDLED: FailureReason = "not_handled";

/**
 * Fails those of these deliveries that are overdue and unclaimed, and of which more claims than there
 * are retries ended without a recorded attempt. The sweep enqueues the others again.
 */
function failUnhandled(db: Database, ids: readonly string[], now: number) {
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
        sql`${deliveries.attempts} - (select count(*) from delivery_attempts
          where delivery_attempts.delivery_id = ${deliveries.id}) > ${RETRY_DELAYS_MS.length}`,
        sql`(${deliveries.claimedUntil} is null or ${deliveries.claimedUntil} <= ${now})`,
      ),
    )
    .returning({ id: deliveries.id });
}
