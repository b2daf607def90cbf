import type { SystemContext } from "../../context.ts";
import { describeError } from "../../lib/log.ts";
import { failOverdue } from "./rescue-store.ts";
import type { Ring } from "./ring.ts";

/** What could not be handled however often it was begun has failed; it can be sent again by hand. */
export async function buryDeadLetters(
  { db, clock, log }: SystemContext,
  batch: MessageBatch<Ring>,
): Promise<void> {
  const ids = batch.messages.map(({ body }) => body.delivery_id);
  try {
    const failed = await failOverdue(db, ids, clock.now());
    log("error", "delivery.dead", { messages: ids.length, failed: failed.map(({ id }) => id) });
    batch.ackAll();
  } catch (error) {
    log("error", "delivery.not_buried", describeError(error));
    batch.retryAll();
  }
}
