import {
  AdmissionCounts,
  type Expiration,
  type StoredCounts,
  whenBelow,
} from "./admission-counts.ts";

/** Longer than that of the sum, because there is one for each consumer. */
const CONSUMER_STEP_MS = 1_000;
/** Consumers below this share of the limit are not stored, so that at most 100 are. */
const STORED_SHARE = 1 / 100;
/** Once this many fifths of the limit are used, only consumers below the last fifth are admitted. */
export const SHARED_FIFTHS = 4;
export const FIFTHS = 5;

/** In the last window: of all consumers, and of one. */
export interface Use {
  total: number;
  own: number;
}

/** Stored in an object. */
export interface StoredUse {
  log: StoredCounts;
  consumers: [consumerId: string, counts: StoredCounts][];
}

/** What the consumers of an organization have used of a limit in the last 60 s. */
export class SharedUse {
  readonly limit: number;
  readonly #log: AdmissionCounts;
  readonly #consumers: Map<string, AdmissionCounts>;

  constructor(
    limit: number,
    stepMs: number,
    { log = [], consumers = [] }: Partial<StoredUse> = {},
  ) {
    this.limit = limit;
    this.#log = new AdmissionCounts(stepMs, log);
    this.#consumers = new Map(
      consumers.map(([id, counts]) => [id, new AdmissionCounts(CONSUMER_STEP_MS, counts)]),
    );
  }

  get stored(): StoredUse {
    const large = [...this.#consumers].filter(
      ([, { total }]) => total >= this.limit * STORED_SHARE,
    );
    return {
      log: this.#log.stored,
      consumers: large.map(([id, counts]) => [id, counts.stored]),
    };
  }

  add(consumerId: string, time: number, count: number): void {
    if (count === 0) return;
    this.#log.add(time, count);
    const counts = this.#consumers.get(consumerId) ?? new AdmissionCounts(CONSUMER_STEP_MS);
    counts.add(time, count);
    this.#consumers.set(consumerId, counts);
  }

  of(consumerId: string): Use {
    return { total: this.#log.total, own: this.#consumers.get(consumerId)?.total ?? 0 };
  }

  dropExpired(now: number): void {
    this.#log.dropExpired(now);
    for (const [id, counts] of this.#consumers) {
      counts.dropExpired(now);
      if (counts.total === 0) this.#consumers.delete(id);
    }
  }

  /** What is left for a consumer, of the part that all share or of the last fifth. */
  roomBeside({ total, own }: Use): number {
    return Math.max(this.#sharedLimit - total, this.#limitOfConsumer - own);
  }

  /**
   * Until something is left for a consumer, if nothing else is used; 0 if something is.
   * @param reserved What counts against the limit besides.
   */
  waitMs(consumerId: string, now: number, reserved: Iterable<Expiration> = []): number {
    const all = this.#log.expirations;
    const own = this.#consumers.get(consumerId)?.expirations ?? [];
    const isBelowLimit = whenBelow(this.limit, [...all, ...reserved], now);
    const isShared = whenBelow(this.#sharedLimit, all, now);
    const isOwn = whenBelow(this.#limitOfConsumer, own, now);
    return Math.max(isBelowLimit, Math.min(isShared, isOwn)) - now;
  }

  get #sharedLimit(): number {
    return (this.limit * SHARED_FIFTHS) / FIFTHS;
  }

  get #limitOfConsumer(): number {
    return this.limit - this.#sharedLimit;
  }
}
