import { BoundedMap } from "../lib/bounded-map.ts";
import { LEASE_MS, type LeaseReport } from "./lease.ts";
import { WINDOW_MS } from "./policies.ts";

/** Times in the log are rounded up to a multiple of this, which bounds its size. */
const LOG_STEP_MS = 50;
/** At most this share of the limit is prefetched. */
const RESERVED_SHARE = 0.15;
/** One grant is at most this share of the tokens that may still be prefetched. */
const GRANT_SHARE = 1 / 8;
const MAX_CACHED_RESPONSES = 1_000;

export interface LeaseRequest {
  /** A retry has the same ID and gets the same response. */
  id: string;
  waiting: number;
  prefetch: number;
  reports: LeaseReport[];
}

export interface LeaseResponse {
  admitted: number;
  /** Prefetched tokens, valid until 20 s after the request was sent. */
  prefetched: number;
  waitMs: number;
}

/** Stored in the object. */
export interface OrganizationWindowState {
  log: [at: number, count: number][];
  reserved: [grantId: string, count: number, until: number][];
}

/**
 * An organization's window of one policy: admits a request unless `limit` requests of its keys were
 * or may have been admitted in the last 60 s. A prefetched token counts from its grant until 60 s
 * after its expiry; once its use is reported, until 60 s after its use.
 */
export class OrganizationWindow {
  readonly #limit: number;
  readonly #log: Map<number, number>;
  readonly #reserved: Map<string, { count: number; until: number }>;
  readonly #responses = new BoundedMap<string, LeaseResponse>(MAX_CACHED_RESPONSES);

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

  lease(request: LeaseRequest, now: number): LeaseResponse {
    const cached = this.#responses.get(request.id);
    if (cached) return cached;
    this.#dropExpired(now);
    for (const report of request.reports) this.#applyReport(report, now);
    const reserved = sum([...this.#reserved.values()].map(({ count }) => count));
    const room = Math.max(0, this.#limit - sum(this.#log.values()) - reserved);
    const admitted = Math.min(request.waiting, room);
    this.#record(now, admitted);
    const free = Math.floor(this.#limit * RESERVED_SHARE) - reserved;
    const share = Math.max(0, Math.floor(free * GRANT_SHARE));
    const prefetched = Math.min(request.prefetch, share, room - admitted);
    if (prefetched > 0) this.#reserve(request.id, prefetched, now);
    const waitMs = admitted < request.waiting ? this.#waitMs(now) : 0;
    const response = { admitted, prefetched, waitMs };
    this.#responses.set(request.id, response);
    return response;
  }

  #dropExpired(now: number): void {
    for (const at of this.#log.keys()) if (at <= now - WINDOW_MS) this.#log.delete(at);
    for (const [id, { until }] of this.#reserved) if (until <= now) this.#reserved.delete(id);
  }

  #applyReport({ grantId, ages, unused }: LeaseReport, now: number): void {
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

  /** For a full window. */
  #waitMs(now: number): number {
    const logged = [...this.#log].map(([at, count]) => ({ count, until: at + WINDOW_MS }));
    const expirations = [...logged, ...this.#reserved.values()].sort((a, b) => a.until - b.until);
    let excess = sum(expirations.map(({ count }) => count)) - this.#limit;
    for (const { count, until } of expirations) {
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
