import type { DeliveryMessage } from "../../src/features/notifications/delivery/index.ts";

const BATCH = 5;
const MAX_RETRIES = 100;
const RETRY_DELAY_SECONDS = 30;
const QUEUE = "longshore-deliveries";

interface Kept {
  body: DeliveryMessage;
  attempts: number;
  at: number;
  queue: string;
}

type Answer = { acked: true } | { delaySeconds: number };

export interface Taken {
  batch: MessageBatch<DeliveryMessage>;
  /** Takes the answers to its messages, unless the consumer died and nobody has heard them. */
  complete(died: boolean): void;
}

/** A queue as wrangler.toml sets it up, whose messages come at a time that a test decides. */
export class VirtualQueue {
  kept: Kept[] = [];
  /** How often a message has come again, at the most. */
  maxAttempts = 0;
  /** How many batches are over. */
  settled = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  push(body: DeliveryMessage, delaySeconds: number, queue = QUEUE): void {
    this.kept.push({ body, attempts: 0, at: this.#now() + delaySeconds * 1_000, queue });
  }

  /** When the next message comes. */
  get next(): number {
    return this.kept.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  }

  /** A batch of what is there. */
  take(): Taken | undefined {
    const first = this.kept.findIndex(({ at }) => at <= this.#now());
    if (first < 0) return undefined;
    const queue = this.kept[first]?.queue ?? QUEUE;
    const taken: Kept[] = [];
    for (let at = first; at < this.kept.length && taken.length < BATCH; at += 1) {
      const each = this.kept[at];
      if (each && each.at <= this.#now() && each.queue === queue) taken.push(each);
    }
    const chosen = new Set(taken);
    this.kept = this.kept.filter((each) => !chosen.has(each));
    const answers = new Map<Kept, Answer>();
    const messages = taken.map((each) => {
      each.attempts += 1;
      this.maxAttempts = Math.max(this.maxAttempts, each.attempts);
      return this.#messageOf(each, (answer) => answers.set(each, answer));
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
    const complete = (died: boolean) => {
      this.settled += 1;
      for (const each of taken)
        this.#settle(each, died ? { delaySeconds: RETRY_DELAY_SECONDS } : answers.get(each));
    };
    return { batch, complete };
  }

  #messageOf({ body, attempts }: Kept, answer: (answer: Answer) => void): Message<DeliveryMessage> {
    let isAnswered = false;
    const once = (given: Answer) => {
      if (isAnswered) throw new Error("A message was answered twice");
      isAnswered = true;
      answer(given);
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

  /** A message that was not answered counts as taken. */
  #settle(each: Kept, answer: Answer = { acked: true }): void {
    if ("acked" in answer) return;
    each.at = this.#now() + answer.delaySeconds * 1_000;
    if (each.attempts > MAX_RETRIES) {
      // It comes at once, whatever delay was asked for: so does it of Miniflare.
      Object.assign(each, { queue: `${QUEUE}-dead`, attempts: 0, at: this.#now() });
    }
    this.kept.push(each);
  }
}
