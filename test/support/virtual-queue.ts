import type { DeliveryMessage } from "../../src/features/notifications/delivery/index.ts";

const BATCH = 5;
const MAX_RETRIES = 100;
const RETRY_DELAY_SECONDS = 30;
const QUEUE = "longshore-deliveries";

interface QueuedMessage {
  body: DeliveryMessage;
  attempts: number;
  at: number;
  queue: string;
}

type Acknowledgement = { acked: true } | { delaySeconds: number };

export interface ReceivedBatch {
  batch: MessageBatch<DeliveryMessage>;
  /** Applies the acks and retries of the consumer; retries every message if it crashed. */
  complete(hasCrashed: boolean): void;
}

/** A queue with the settings of wrangler.toml and a clock that the test controls. */
export class VirtualQueue {
  messages: QueuedMessage[] = [];
  /** The highest delivery count of a message. */
  maxAttempts = 0;
  completedBatches = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  push(body: DeliveryMessage, delaySeconds: number, queue = QUEUE): void {
    this.messages.push({ body, attempts: 0, at: this.#now() + delaySeconds * 1_000, queue });
  }

  /** When the next message is due. */
  get next(): number {
    return this.messages.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  }

  receiveBatch(): ReceivedBatch | undefined {
    const first = this.messages.findIndex(({ at }) => at <= this.#now());
    if (first < 0) return undefined;
    const queue = this.messages[first]?.queue ?? QUEUE;
    const taken: QueuedMessage[] = [];
    for (let at = first; at < this.messages.length && taken.length < BATCH; at += 1) {
      const each = this.messages[at];
      if (each && each.at <= this.#now() && each.queue === queue) taken.push(each);
    }
    const chosen = new Set(taken);
    this.messages = this.messages.filter((each) => !chosen.has(each));
    const acknowledgements = new Map<QueuedMessage, Acknowledgement>();
    const messages = taken.map((each) => {
      each.attempts += 1;
      this.maxAttempts = Math.max(this.maxAttempts, each.attempts);
      return this.#messageOf(each, (given) => acknowledgements.set(each, given));
    });
    const batch = {
      queue,
      messages,
      ackAll: () => {
        for (const message of messages) message.ack();
      },
      retryAll: () => {
        for (const message of messages) message.retry();
      },
    } as unknown as MessageBatch<DeliveryMessage>;
    const complete = (hasCrashed: boolean) => {
      this.completedBatches += 1;
      for (const each of taken)
        this.#finish(
          each,
          hasCrashed ? { delaySeconds: RETRY_DELAY_SECONDS } : acknowledgements.get(each),
        );
    };
    return { batch, complete };
  }

  #messageOf(
    { body, attempts }: QueuedMessage,
    acknowledge: (given: Acknowledgement) => void,
  ): Message<DeliveryMessage> {
    let isAcknowledged = false;
    const once = (given: Acknowledgement) => {
      if (isAcknowledged) throw new Error("A message was acknowledged twice");
      isAcknowledged = true;
      acknowledge(given);
    };
    return {
      id: crypto.randomUUID(),
      timestamp: new Date(this.#now()),
      body,
      attempts,
      ack: () => once({ acked: true }),
      retry: ({ delaySeconds = RETRY_DELAY_SECONDS } = {}) => once({ delaySeconds }),
    } as Message<DeliveryMessage>;
  }

  /** A message without an explicit ack or retry counts as acked. */
  #finish(each: QueuedMessage, acknowledgement: Acknowledgement = { acked: true }): void {
    if ("acked" in acknowledgement) return;
    each.at = this.#now() + acknowledgement.delaySeconds * 1_000;
    if (each.attempts > MAX_RETRIES) {
      // Dead letters are due at once, whatever the delay, as in Miniflare.
      Object.assign(each, { queue: `${QUEUE}-dead`, attempts: 0, at: this.#now() });
    }
    this.messages.push(each);
  }
}
