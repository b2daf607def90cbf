/** How long a key's object may use a token that it holds in advance. */
export const LEASE_MS = 20_000;

/** A key holds at most this share of its own limit in advance. */
const LARGEST_SHARE = 1 / 10;
/** And at most this share of what it used in the last window. */
const SHARE_OF_RECENT_USE = 1 / 2;
/** The lease is renewed when at most this share of its target is left. */
const RENEWAL_SHARE = 1 / 4;

/** What became of the tokens of one grant since the last report. */
export interface LeaseReport {
  grantId: string;
  /** For each used token: milliseconds since its use, on the reporter's clock. */
  ages: number[];
  /** Tokens that expired and are never used. */
  unused: number;
}

interface Grant {
  id: string;
  tokens: number;
  expiresAt: number;
  usedAt: number[];
}

/**
 * The tokens of its organization's window that a key's object holds in advance, for one policy. A
 * token admits one request. The lease is never stored: tokens that are lost with the memory of the
 * object stay reserved at the organization's object until they no longer matter.
 */
export class Lease {
  readonly #limit: number;
  /** Oldest first. */
  #grants: Grant[] = [];

  /** `limit` is the key's own limit. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Uses one token at `now`; false if there is none. */
  take(now: number): boolean {
    const grant = this.#grants.find(({ tokens, expiresAt }) => tokens > 0 && now < expiresAt);
    if (!grant) return false;
    grant.tokens -= 1;
    grant.usedAt.push(now);
    return true;
  }

  add(id: string, tokens: number, expiresAt: number): void {
    if (tokens > 0) this.#grants.push({ id, tokens, expiresAt, usedAt: [] });
  }

  /**
   * How many tokens to ask for in advance; 0 while enough are left. The target grows with the use of
   * the key, so a key with one request a minute holds nothing.
   * @param recentUse Requests of the key that were admitted in the last window.
   */
  shortage(recentUse: number, now: number): number {
    const share = Math.floor(recentUse * SHARE_OF_RECENT_USE);
    const target = Math.min(Math.floor(this.#limit * LARGEST_SHARE), share);
    let left = 0;
    for (const { tokens, expiresAt } of this.#grants) {
      if (now + LEASE_MS / 2 < expiresAt) left += tokens;
    }
    return left <= target * RENEWAL_SHARE ? target - left : 0;
  }

  /** What is new since the last report. A report is made once: if it is lost, it stays lost. */
  report(now: number): LeaseReport[] {
    const reports: LeaseReport[] = [];
    for (const grant of this.#grants) {
      const ages = grant.usedAt.map((time) => Math.max(0, now - time));
      const unused = now < grant.expiresAt ? 0 : grant.tokens;
      grant.usedAt = [];
      grant.tokens -= unused;
      if (ages.length + unused > 0) reports.push({ grantId: grant.id, ages, unused });
    }
    this.#grants = this.#grants.filter(({ tokens }) => tokens > 0);
    return reports;
  }
}
