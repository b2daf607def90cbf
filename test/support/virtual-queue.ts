import type { DeliveryMessage } from "../../src/features/notifications/delivery/index.ts";

const BATCH = 5;
const MAX_RETRIES = 100;
const RETRY_DELAY_SECONDS = 30;

interface QueuedMessage {
  body: DeliveryMessage;
  attempts: number;
  at: number;
}

type Acknowledgement = { acked: true } | { delaySeconds: number };

export interface ReceivedBatch {
  batch: MessageBatch<DeliveryMessage>;
  /** Applies the acks and retries of the consumer. */
  complete(): void;
  /** Retries every message, unless the batch is complete. */
  crash(): void;
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

  /** The number of calls of the producer. */
  sends = 0;
  /** As the binding of a Worker. */
  readonly producer = {
    sendBatch: async (messages: Iterable<MessageSendRequest<DeliveryMessage>>) => {
      this.sends += 1;
      for (const { body, delaySeconds = 0 } of messages) this.push(body, delaySeconds);
    },
  } as unknown as Queue<DeliveryMessage>;

  push(body: DeliveryMessage, delaySeconds: number): void {
    this.messages.push({ body, attempts: 0, at: this.#now() + delaySeconds * 1_000 });
  }

  /** When the next message is due. */
  get next(): number {
    return this.messages.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  }

  receiveBatch(): ReceivedBatch | undefined {
    const now = this.#now();
    const taken = this.messages.filter(({ at }) => at <= now).slice(0, BATCH);
    if (taken.length === 0) return undefined;
    const chosen = new Set(taken);
    this.messages = this.messages.filter((each) => !chosen.has(each));
    const acknowledgements = new Map<QueuedMessage, Acknowledgement>();
    const messages = taken.map((each) => {
      each.attempts += 1;
      this.maxAttempts = Math.max(this.maxAttempts, each.attempts);
      return this.#messageOf(each, (given) => acknowledgements.set(each, given));
    });
    const batch = {
      messages,
      ackAll: () => {
        for (const message of messages) message.ack();
      },
      retryAll: () => {
        for (const message of messages) message.retry();
      },
    } as unknown as MessageBatch<DeliveryMessage>;
    const finish = (acknowledgementOf: (each: QueuedMessage) => Acknowledgement | undefined) => {
      for (const each of taken.splice(0)) this.#finish(each, acknowledgementOf(each));
    };
    return {
      batch,
      complete: () => {
        this.completedBatches += 1;
        finish((each) => acknowledgements.get(each));
      },
      crash: () => finish(() => ({ delaySeconds: RETRY_DELAY_SECONDS })),
    };
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
    if (each.attempts <= MAX_RETRIES) this.messages.push(each);
  }
}
