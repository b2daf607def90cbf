/** What the queue carries: which delivery to look at. All else is in the outbox. */
export interface DeliveryMessage {
  delivery_id: string;
}

/** What a queue takes in one call (Cloudflare Queues, limits). */
const BATCH = 100;

/** Rings for deliveries, now or after a delay in whole seconds, 43,200 at the most. */
export async function enqueueDeliveries(
  queue: Queue<DeliveryMessage>,
  deliveryIds: readonly string[],
  delaySeconds = 0,
): Promise<void> {
  for (let at = 0; at < deliveryIds.length; at += BATCH) {
    const messages = deliveryIds
      .slice(at, at + BATCH)
      .map((delivery_id) => ({ body: { delivery_id }, delaySeconds }));
    await queue.sendBatch(messages);
  }
}
