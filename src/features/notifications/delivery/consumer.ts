import type { SystemContext } from "../../../context.ts";
import { describeError } from "../../../lib/log.ts";
import { Sender, type SenderContext } from "./sender.ts";
import { type DeliveryMessage, deliveryIdsOf } from "./wake-up.ts";

/**
 * Sends what is due until nothing is, or until its time is over. Requests that are still in progress
 * continue in the background, so that slow endpoints do not hold up the queue. A message that is
 * lost after the claim does no harm: deliveries become due again when their claims end.
 */
export async function consume(
  ctx: SystemContext & SenderContext,
  batch: MessageBatch<DeliveryMessage>,
): Promise<void> {
  const sender = new Sender(
    ctx,
    batch.messages.flatMap(({ body }) => deliveryIdsOf(body)),
  );
  try {
    await sender.sendDue();
  } catch (error) {
    ctx.log("error", "delivery.not_claimed", describeError(error));
    batch.retryAll();
  }
  ctx.waitUntil(sender.finish());
}
