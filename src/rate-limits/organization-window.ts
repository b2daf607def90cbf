import { BoundedMap } from "../lib/bounded-map.ts";
import { type Expiration, sum } from "./admission-counts.ts";
import { WINDOW_MS } from "./policies.ts";
import { TOKEN_TTL_MS, type TokenReport } from "./prefetched-tokens.ts";
import { SharedUse, type StoredUse, type Use } from "./shared-use.ts";

const LOG_STEP_MS = 50;
/** At most this share of the limit is prefetched. */
export const RESERVED_SHARE = 0.15;
const RESERVED_SHARE_OF_CONSUMER = 0.1;
/** One grant is at most this share of the tokens that may still be prefetched. */
const GRANT_SHARE = 1 / 8;
const MAX_CACHED_RESPONSES = 1_000;

export interface TokenRequest {
  /** A retry has the same ID and gets the same response. */
  id: string;
  waiting: number;
  /** How many of the waiting requests the budget does not refuse. */
  exempt: number;
  prefetch: number;
  reports: TokenReport[];
  /** See `Principal`. The reports are of the same consumer. */
  consumerId: string;
  /** What requests have cost since the last report, in units of `UNITS`. */
  units: number;
}

export interface TokenResponse {
  admitted: number;
  /** Prefetched tokens, valid until 20 s after the request was sent. */
  prefetched: number;
  waitMs: number;
  /** Until the budget admits requests; 0 while it does. */
  overBudgetMs: number;
}

/** The request and the response without the budget, which is not the window's. */
type WindowRequest = Omit<TokenRequest, "exempt" | "units">;
export type Grant = Omit<TokenResponse, "overBudgetMs">;

/** Stored in the object. */
export interface OrganizationWindowState extends StoredUse {
  reserved: [grantId: string, count: number, until: number, consumerId: string][];
}

interface Reservation extends Expiration {
  consumerId: string;
}

/**
 * An organization's window of one policy: admits a request unless `limit` requests of its keys were
 * or may have been admitted in the last 60 s. A prefetched token counts from its grant until 60 s
 * after its expiry; once its use is reported, until 60 s after its use. The last fifth is for
 * consumers that were admitted less than a fifth, so that none exhausts the window for the others.
 */
export class OrganizationWindow {
  /** Requests that were admitted. */
  readonly #use: SharedUse;
  readonly #reserved: Map<string, Reservation>;
  readonly #responses = new BoundedMap<string, Grant>(MAX_CACHED_RESPONSES);

  constructor(limit: number, { reserved = [], ...use }: Partial<OrganizationWindowState> = {}) {
    this.#use = new SharedUse(limit, LOG_STEP_MS, use);
    this.#reserved = new Map(
      reserved.map(([id, count, until, consumerId]) => [id, { count, until, consumerId }]),
    );
  }

  get state(): OrganizationWindowState {
    return {
      ...this.#use.stored,
      reserved: [...this.#reserved].map(([id, { count, until, consumerId }]) => [
        id,
        count,
        until,
        consumerId,
      ]),
    };
  }

  grant(request: WindowRequest, now: number): Grant {
    const cached = this.#responses.get(request.id);
    if (cached) return cached;
    const { consumerId } = request;
    this.#dropExpired(now);
    for (const report of request.reports) this.#applyReport(report, consumerId, now);
    const before = this.#use.of(consumerId);
    const reserved = this.#reservedFor(consumerId);
    const admitted = Math.min(request.waiting, this.#roomToAdmit(before, reserved));
    this.#use.add(consumerId, now, admitted);
    const after = { total: before.total + admitted, own: before.own + admitted };
    const prefetched = Math.min(request.prefetch, this.#roomToPrefetch(after, reserved));
    if (prefetched > 0) this.#reserve(request.id, consumerId, prefetched, now);
    const waitMs =
      admitted < request.waiting ? this.#use.waitMs(consumerId, now, this.#reserved.values()) : 0;
    const response = { admitted, prefetched, waitMs };
    // A repeat of a refusal may be decided again, and a flood of them must not evict the others.
    const hasEffect = admitted + prefetched + request.reports.length > 0;
    if (hasEffect) this.#responses.set(request.id, response);
    return response;
  }

  /** A prefetched token may stay unused, so it must not cause a refusal below four fifths. */
  #roomToAdmit(admitted: Use, reserved: Use): number {
    const room = Math.min(
      this.#use.limit - admitted.total - reserved.total,
      this.#use.roomBeside(admitted),
    );
    return Math.max(0, room);
  }

  #roomToPrefetch(admitted: Use, reserved: Use): number {
    const used = { total: admitted.total + reserved.total, own: admitted.own + reserved.own };
    const { limit } = this.#use;
    const free = Math.min(
      Math.floor(limit * RESERVED_SHARE) - reserved.total,
      Math.floor(limit * RESERVED_SHARE_OF_CONSUMER) - reserved.own,
    );
    const room = Math.min(limit - used.total, this.#use.roomBeside(used));
    return Math.max(0, Math.min(Math.floor(free * GRANT_SHARE), room));
  }

  #reservedFor(consumerId: string): Use {
    const all = [...this.#reserved.values()];
    const own = all.filter((each) => each.consumerId === consumerId);
    return { total: sum(all.map(({ count }) => count)), own: sum(own.map(({ count }) => count)) };
  }

  #dropExpired(now: number): void {
    this.#use.dropExpired(now);
    for (const [id, { until }] of this.#reserved) if (until <= now) this.#reserved.delete(id);
  }

  #applyReport({ grantId, ages, unused }: TokenReport, consumerId: string, now: number): void {
    for (const age of ages) if (age < WINDOW_MS) this.#use.add(consumerId, now - age, 1);
    const grant = this.#reserved.get(grantId);
    if (!grant) return;
    grant.count -= ages.length + unused;
    if (grant.count <= 0) this.#reserved.delete(grantId);
  }

  #reserve(grantId: string, consumerId: string, count: number, now: number): void {
    this.#reserved.set(grantId, { count, until: now + TOKEN_TTL_MS + WINDOW_MS, consumerId });
  }
}
