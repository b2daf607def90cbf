import { type DeliveryMessage, enqueueDeliveries } from "./queue.ts";

/** What a queue can put off a message by. */
const MAX_DELAY_SECONDS = 43_200;
/**
 * A message that was put off so often is replaced by a new one, long before the queue takes it for
 * one that nobody can read (`max_retries` in wrangler.toml).
 */
const MAX_ATTEMPTS = 90;

/** A message of the queue. It is answered once; whatever is to come after that, is rung for anew. */
export class Notice {
  readonly deliveryId: string;
  readonly #message: Message<DeliveryMessage>;
  readonly #queue: Queue<DeliveryMessage>;
  #isAnswered = false;

  constructor(message: Message<DeliveryMessage>, queue: Queue<DeliveryMessage>) {
    this.deliveryId = message.body.delivery_id;
    this.#message = message;
    this.#queue = queue;
  }

  /** There is nothing left to do, or somebody else sees to it. */
  close(): void {
    if (!this.#isAnswered) this.#message.ack();
    this.#isAnswered = true;
  }

  /** Has it come again after so many milliseconds: rather later than earlier. */
  async putOff(delayMs: number): Promise<void> {
    const seconds = Math.min(Math.max(Math.ceil(delayMs / 1_000), 0), MAX_DELAY_SECONDS);
    if (!this.#isAnswered && this.#message.attempts < MAX_ATTEMPTS) {
      this.#isAnswered = true;
      this.#message.retry({ delaySeconds: seconds });
      return;
    }
    await enqueueDeliveries(this.#queue, [this.deliveryId], seconds);
    this.close();
  }

  /** Something went wrong that is not the endpoint's doing. Too often, and it is a dead letter. */
  giveBack(delayMs?: number): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#message.retry(delayMs === undefined ? {} : { delaySeconds: Math.ceil(delayMs / 1_000) });
  }
}
