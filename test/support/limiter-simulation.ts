import { LIMITS } from "../../src/lib/limits.ts";
import { type KeyDecision, KeyWindow } from "../../src/rate-limits/key-window.ts";
import { OrganizationWindow } from "../../src/rate-limits/organization-window.ts";
import { type Random, seededRandom } from "./random.ts";

/** As the key's object has it. */
const RETRY_AFTER_MS = 250;

export interface Conditions {
  /** Of one key. */
  limit: number;
  seed: number;
  /** One way, between a key's object and the organization's. */
  maxLatencyMs: number;
  /** Probability that the first message, or the answer to it, is lost. */
  lossRate: number;
  /** Probability that the retry is lost as well. */
  failureRate: number;
  /** Probability, for each request, that its key's object has lost its memory before. */
  evictionRate: number;
}

interface SimulatedKey {
  window: KeyWindow;
  /** How far its clock is ahead of the organization's. */
  skewMs: number;
  /** Requests to the organization's object that are in progress. */
  pending: number;
}

/** The objects of one organization and of its keys, on a simulated clock. */
export class LimiterSimulation {
  readonly organizationLimit: number;
  /** When requests were admitted: those that waited, when the organization's object decided. */
  readonly admittedAt: number[] = [];
  /** When requests were refused for the organization. */
  readonly refusedAt: number[] = [];
  /** When requests arrived that had to wait for the organization's object. */
  readonly waitedAt: number[] = [];
  readonly #conditions: Conditions;
  readonly #random: Random;
  readonly #organization: OrganizationWindow;
  readonly #keys = new Map<number, SimulatedKey>();
  readonly #events: { at: number; run: () => void }[] = [];
  /** The first of the requests that an answer settles were admitted by it, when it was given. */
  #granted = { at: 0, left: 0 };
  /** By the ID of the request, of which a retry has the same. */
  readonly #decidedAt = new Map<string, number>();
  #now = 0;
  #ids = 0;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
    this.#random = seededRandom(conditions.seed);
    this.organizationLimit = LIMITS.organizationRequests.value * conditions.limit;
    this.#organization = new OrganizationWindow(this.organizationLimit);
  }

  /** Plans a request of a key. */
  request(at: number, key: number): void {
    this.#schedule(at, () => this.#arrive(this.#keyOf(key)));
  }

  run(): void {
    for (let next = this.#events.pop(); next; next = this.#events.pop()) {
      this.#now = next.at;
      next.run();
    }
    this.admittedAt.sort((a, b) => a - b);
  }

  /** How many requests were admitted in `(from, to]`. */
  admittedIn(from: number, to: number): number {
    return this.admittedAt.filter((at) => from < at && at <= to).length;
  }

  #arrive(key: SimulatedKey): void {
    const decision = key.window.consume(this.#now + key.skewMs, (late) => this.#note(late));
    if (decision) this.#note(decision);
    else this.waitedAt.push(this.#now);
    this.#renew(key, key.window);
  }

  #note({ admitted, by }: KeyDecision): void {
    if (admitted) {
      this.admittedAt.push(this.#granted.left > 0 ? this.#granted.at : this.#now);
      this.#granted.left -= 1;
    } else if (by === "organization") {
      this.refusedAt.push(this.#now);
    }
  }

  /** As the key's object does after every request and every answer. */
  #renew(key: SimulatedKey, window: KeyWindow): void {
    const { lossRate, failureRate } = this.#conditions;
    const request = window.nextLease(this.#now + key.skewMs, () => String(++this.#ids));
    if (!request) return;
    key.pending += 1;
    const isFirstLost = this.#random.chance(lossRate);
    const isMessageLost = this.#random.chance(0.5);
    const isRetryLost = isFirstLost && this.#random.chance(failureRate);
    if (!isFirstLost || !isMessageLost) this.#deliver(key, window, request, isFirstLost, 0);
    if (isFirstLost) this.#deliver(key, window, request, isRetryLost, RETRY_AFTER_MS);
    if (isRetryLost) {
      this.#schedule(this.#now + RETRY_AFTER_MS + 150, () => {
        key.pending -= 1;
        window.admitAlone(this.#now + key.skewMs);
        this.#renew(key, window);
      });
    }
  }

  #deliver(
    key: SimulatedKey,
    window: KeyWindow,
    request: Parameters<OrganizationWindow["lease"]>[0],
    isAnswerLost: boolean,
    delayMs: number,
  ): void {
    this.#schedule(this.#now + delayMs + this.#latency(), () => {
      const decidedAt = this.#decidedAt.get(request.id) ?? this.#now;
      this.#decidedAt.set(request.id, decidedAt);
      const answer = this.#organization.lease(request, this.#now);
      if (isAnswerLost) return;
      this.#schedule(this.#now + this.#latency(), () => {
        key.pending -= 1;
        this.#granted = { at: decidedAt, left: answer.admitted };
        window.accept(answer, this.#now + key.skewMs);
        this.#granted.left = 0;
        this.#renew(key, window);
      });
    });
  }

  #latency(): number {
    return this.#random.below(this.#conditions.maxLatencyMs + 1);
  }

  #keyOf(id: number): SimulatedKey {
    const { limit, evictionRate } = this.#conditions;
    const known = this.#keys.get(id);
    const isEvicted = known && known.pending === 0 && this.#random.chance(evictionRate);
    if (known && !isEvicted) return known;
    const key = {
      window: new KeyWindow(limit, known?.window.log),
      skewMs: known?.skewMs ?? 1_000_000 + this.#random.below(20_000),
      pending: 0,
    };
    this.#keys.set(id, key);
    return key;
  }

  /** Keeps the events in order, latest first, once the simulation runs. */
  #schedule(at: number, run: () => void): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { at, run });
  }
}
