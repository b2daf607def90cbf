import { BoundedMap } from "../lib/bounded-map.ts";
import { LEASE_MS, type LeaseReport } from "./lease.ts";
import { WINDOW_MS } from "./policies.ts";

/** Times of admissions are rounded up to multiples of this, which bounds the size of the log. */
export const LOG_STEP_MS = 50;
/** Tokens that are held in advance are at most this share of the limit. */
const RESERVED_SHARE = 0.15;
/** One grant is at most this share of the tokens that may still be held in advance. */
const GRANT_SHARE = 1 / 8;
const REMEMBERED_ANSWERS = 1_000;

/** What a key's object asks of its organization's object, for one policy. */
export interface LeaseRequest {
  /** Unique. A retry has the same ID and gets the same answer. */
  id: string;
  /** Requests that wait for the answer. */
  waiting: number;
  /** Tokens that are wanted in advance. */
  prefetch: number;
  reports: LeaseReport[];
}

export interface LeaseAnswer {
  /** How many of the waiting requests are admitted. */
  admitted: number;
  /** Tokens in advance, for 20 s from when the request was sent. */
  prefetched: number;
  /** Milliseconds until a further request finds room that is not there now. */
  waitMs: number;
}

/** What is stored of a window. */
export interface OrganizationWindowState {
  /** Admissions: when, and how many. */
  log: [at: number, count: number][];
  /** Tokens held in advance: the grant, how many, and until when they count. */
  reserved: [grantId: string, count: number, until: number][];
}

/**
 * An organization's window of one policy: admits a request unless `limit` requests of its keys were
 * admitted in the last 60 s or may have been. A request that waits counts from the time of its
 * grant. A token that is held in advance counts from its grant until 60 s after its last possible
 * use; once its use is reported, until 60 s after that.
 */
export class OrganizationWindow {
  readonly #limit: number;
  readonly #log: Map<number, number>;
  readonly #reserved: Map<string, { count: number; until: number }>;
  readonly #answers = new BoundedMap<string, LeaseAnswer>(REMEMBERED_ANSWERS);

  /** `limit` is the organization's. */
  constructor(
    limit: number,
    { log, reserved }: OrganizationWindowState = { log: [], reserved: [] },
  ) {
    this.#limit = limit;
    this.#log = new Map(log);
    this.#reserved = new Map(reserved.map(([id, count, until]) => [id, { count, until }]));
  }

  get state(): OrganizationWindowState {
    return {
      log: [...this.#log],
      reserved: [...this.#reserved].map(([id, { count, until }]) => [id, count, until]),
    };
  }

  lease(request: LeaseRequest, now: number): LeaseAnswer {
    const given = this.#answers.get(request.id);
    if (given) return given;
    this.#forgetOld(now);
    for (const report of request.reports) this.#settle(report, now);
    const reserved = sum([...this.#reserved.values()].map(({ count }) => count));
    const room = Math.max(0, this.#limit - sum(this.#log.values()) - reserved);
    const admitted = Math.min(request.waiting, room);
    this.#record(now, admitted);
    const free = Math.floor(this.#limit * RESERVED_SHARE) - reserved;
    const share = Math.max(0, Math.floor(free * GRANT_SHARE));
    const prefetched = Math.min(request.prefetch, share, room - admitted);
    if (prefetched > 0) this.#reserve(request.id, prefetched, now);
    const waitMs = admitted < request.waiting ? this.#waitMs(now) : 0;
    const answer = { admitted, prefetched, waitMs };
    this.#answers.set(request.id, answer);
    return answer;
  }

  #forgetOld(now: number): void {
    for (const at of this.#log.keys()) if (at <= now - WINDOW_MS) this.#log.delete(at);
    for (const [id, { until }] of this.#reserved) if (until <= now) this.#reserved.delete(id);
  }

  /** Counts used tokens from when they were used, and frees the others. */
  #settle({ grantId, ages, unused }: LeaseReport, now: number): void {
    for (const age of ages) if (age < WINDOW_MS) this.#record(now - age, 1);
    const grant = this.#reserved.get(grantId);
    if (!grant) return;
    grant.count -= ages.length + unused;
    if (grant.count <= 0) this.#reserved.delete(grantId);
  }

  #record(time: number, count: number): void {
    if (count === 0) return;
    const at = Math.ceil(time / LOG_STEP_MS) * LOG_STEP_MS;
    this.#log.set(at, (this.#log.get(at) ?? 0) + count);
  }

  #reserve(grantId: string, count: number, now: number): void {
    this.#reserved.set(grantId, { count, until: now + LEASE_MS + WINDOW_MS });
  }

  /** The window is full: the time until enough of what counts no longer does. */
  #waitMs(now: number): number {
    const logged = [...this.#log].map(([at, count]) => ({ count, until: at + WINDOW_MS }));
    const ends = [...logged, ...this.#reserved.values()].sort((a, b) => a.until - b.until);
    let excess = sum(ends.map(({ count }) => count)) - this.#limit;
    for (const { count, until } of ends) {
      excess -= count;
      if (excess < 0) return until - now;
    }
    return WINDOW_MS;
  }
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
