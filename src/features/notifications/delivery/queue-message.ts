/** The delivery itself is in the outbox. */
export interface DeliveryMessage {
  delivery_id: string;
}

/** The most messages of one `sendBatch` (Cloudflare Queues, limits). */
const SEND_BATCH = 100;
/** The longest delay of a message (Cloudflare Queues, limits). */
const MAX_DELAY_SECONDS = 43_200;
/** Well below `max_retries` in wrangler.toml, beyond which the queue makes it a dead letter. */
const MAX_ATTEMPTS = 90;

export async function enqueueDeliveries(
  queue: Queue<DeliveryMessage>,
  deliveryIds: readonly string[],
  delaySeconds = 0,
): Promise<void> {
  for (let at = 0; at < deliveryIds.length; at += SEND_BATCH) {
    const messages = deliveryIds
      .slice(at, at + SEND_BATCH)
      .map((delivery_id) => ({ body: { delivery_id }, delaySeconds }));
    await queue.sendBatch(messages);
  }
}

/** Only the first acknowledgment reaches the queue. */
export class MessageHandle {
  readonly deliveryId: string;
  readonly #message: Message<DeliveryMessage>;
  readonly #queue: Queue<DeliveryMessage>;
  #isSettled = false;

  constructor(message: Message<DeliveryMessage>, queue: Queue<DeliveryMessage>) {
    this.deliveryId = message.body.delivery_id;
    this.#message = message;
    this.#queue = queue;
  }

  ack(): void {
    if (!this.#isSettled) this.#message.ack();
    this.#isSettled = true;
  }

  /**
   * Rounds the delay up to seconds. Enqueues a new message if this one is acknowledged, or was
   * retried so often that it would become a dead letter.
   */
  async retryAfter(delayMs: number): Promise<void> {
    const seconds = Math.min(Math.max(Math.ceil(delayMs / 1_000), 0), MAX_DELAY_SECONDS);
    if (!this.#isSettled && this.#message.attempts < MAX_ATTEMPTS) {
      this.#isSettled = true;
      this.#message.retry({ delaySeconds: seconds });
      return;
    }
    await enqueueDeliveries(this.#queue, [this.deliveryId], seconds);
    this.ack();
  }

  nack(delayMs?: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#message.retry(delayMs === undefined ? {} : { delaySeconds: Math.ceil(delayMs / 1_000) });
  }
}
