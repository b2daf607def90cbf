import { LIMITS } from "../../src/lib/limits.ts";
import {
  type KeyDecision,
  KeyWindow,
  type PendingRequest,
} from "../../src/rate-limits/key-window.ts";
import { type Grant, OrganizationWindow } from "../../src/rate-limits/organization-window.ts";
import { type Random, seededRandom } from "./random.ts";

/** From the first request to its retry, as in the key's object. */
export const RETRY_AFTER_MS = 250;

export interface Conditions {
  /** The limit of one key. */
  limit: number;
  seed: number;
  /** One way, between the objects of a key and of the organization. */
  maxLatencyMs: number;
  /** Probability that the first message or its response is lost. */
  lossRate: number;
  /** Probability that the retry is lost too. */
  failureRate: number;
  /** Probability, for each request, that its key's object lost its memory before. */
  evictionRate: number;
}

interface SimulatedKey {
  window: KeyWindow;
  consumerId: string;
  /** How far its clock is ahead of the clock of the organization's object. */
  skewMs: number;
  /** Requests to the organization's object that are in progress. */
  pending: number;
}

export interface SimulatedDecision {
  at: number;
  consumerId: string;
}

/** The objects of one organization and of its keys, on a simulated clock. */
export class LimiterSimulation {
  readonly organizationLimit: number;
  /** A request that waited is admitted when the organization's object decides. */
  readonly admissions: SimulatedDecision[] = [];
  /** Refusals by the organization's window. */
  readonly refusals: SimulatedDecision[] = [];
  /** Arrivals of requests that waited for the organization's object. */
  readonly waitedAt: number[] = [];
  readonly #conditions: Conditions;
  readonly #random: Random;
  readonly #organization: OrganizationWindow;
  readonly #keys = new Map<number | string, SimulatedKey>();
  readonly #events: { at: number; run: () => void }[] = [];
  /** The next `remaining` decisions are admissions by the last response, decided at `at`. */
  #granted = { at: 0, remaining: 0 };
  /** By the ID of the lease request, which a retry shares. */
  readonly #decisions = new Map<string, { at: number; response: Grant }>();
  #now = 0;
  #ids = 0;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
    this.#random = seededRandom(conditions.seed);
    this.organizationLimit = LIMITS.organizationRequests.value * conditions.limit;
    this.#organization = new OrganizationWindow(this.organizationLimit);
  }

  /** @param key Different for the keys of different consumers. */
  request(at: number, key: number | string, consumerId = "membership"): void {
    this.#schedule(at, () => this.#arrive(this.#keyOf(key, consumerId)));
  }

  run(): void {
    for (let next = this.#events.pop(); next; next = this.#events.pop()) {
      this.#now = next.at;
      next.run();
    }
    this.admissions.sort((a, b) => a.at - b.at);
  }

  /**
   * How many requests were admitted in `(from, to]`.
   * @param consumerId Undefined: of all.
   */
  admittedIn(from: number, to: number, consumerId?: string): number {
    return this.admissions.filter(
      (each) =>
        from < each.at && each.at <= to && (consumerId ?? each.consumerId) === each.consumerId,
    ).length;
  }

  #arrive(key: SimulatedKey): void {
    const id = `request ${++this.#ids}`;
    const decision = key.window.consume(this.#now + key.skewMs, id, (late) =>
      this.#recordDecision(late, key),
    );
    if (decision) this.#recordDecision(decision, key);
    else this.waitedAt.push(this.#now);
    this.#requestTokens(key, key.window);
  }

  #recordDecision({ admitted, by }: KeyDecision, { consumerId }: SimulatedKey): void {
    if (admitted) {
      const at = this.#granted.remaining > 0 ? this.#granted.at : this.#now;
      this.admissions.push({ at, consumerId });
      this.#granted.remaining -= 1;
    } else if (by === "organization") {
      this.refusals.push({ at: this.#now, consumerId });
    }
  }

  /** The key's object does the same after every request and every response. */
  #requestTokens(key: SimulatedKey, window: KeyWindow): void {
    const { lossRate, failureRate } = this.#conditions;
    const request = window.nextRequest(this.#now + key.skewMs, () => String(++this.#ids));
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
        window.startFallback(this.#now + key.skewMs);
        this.#requestTokens(key, window);
      });
    }
  }

  #deliver(
    key: SimulatedKey,
    window: KeyWindow,
    request: PendingRequest,
    isResponseLost: boolean,
    delayMs: number,
  ): void {
    this.#schedule(this.#now + delayMs + this.#latency(), () => {
      const { consumerId } = key;
      const response = this.#organization.grant({ ...request, consumerId }, this.#now);
      const earlier = this.#decisions.get(request.id);
      // The object decides again on a retry if its cache has evicted the first response.
      const decidedAt = earlier?.response === response ? earlier.at : this.#now;
      this.#decisions.set(request.id, { at: decidedAt, response });
      if (isResponseLost) return;
      this.#schedule(this.#now + this.#latency(), () => {
        key.pending -= 1;
        this.#granted = { at: decidedAt, remaining: response.admitted };
        window.accept({ ...response, overBudgetMs: 0 }, this.#now + key.skewMs);
        this.#granted.remaining = 0;
        this.#requestTokens(key, window);
      });
    });
  }

  #latency(): number {
    return this.#random.below(this.#conditions.maxLatencyMs + 1);
  }

  #keyOf(id: number | string, consumerId: string): SimulatedKey {
    const { limit, evictionRate } = this.#conditions;
    const known = this.#keys.get(id);
    const isEvicted = known && known.pending === 0 && this.#random.chance(evictionRate);
    if (known && !isEvicted) return known;
    const key = {
      window: new KeyWindow(limit, known?.window.log),
      consumerId,
      skewMs: known?.skewMs ?? 1_000_000 + this.#random.below(20_000),
      pending: 0,
    };
    this.#keys.set(id, key);
    return key;
  }

  /** Keeps the events sorted, latest first. */
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
