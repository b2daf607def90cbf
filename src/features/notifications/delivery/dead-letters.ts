import type { SystemContext } from "../../../context.ts";
import { describeError } from "../../../lib/log.ts";
import { failDeadLetters } from "./overdue.ts";
import type { DeliveryMessage } from "./queue.ts";

/** Fails deliveries that could not be handled however often they were claimed. */
export async function handleDeadLetters(
  { db, clock, log }: SystemContext,
  batch: MessageBatch<DeliveryMessage>,
): Promise<void> {
  const ids = batch.messages.map(({ body }) => body.delivery_id);
  try {
    const failed = await failDeadLetters(db, ids, clock.now());
    log("error", "delivery.dead", { messages: ids.length, failed: failed.map(({ id }) => id) });
    batch.ackAll();
  } catch (error) {
    log("error", "delivery.not_buried", describeError(error));
    batch.retryAll();
  }
}
