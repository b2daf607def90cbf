/** How long a key's object may use a prefetched token. */
export const TOKEN_TTL_MS = 20_000;

const MAX_SHARE_OF_LIMIT = 1 / 10;
const SHARE_OF_RECENT_USE = 1 / 2;
/** More tokens are prefetched when at most this share of the target is left. */
const RENEWAL_SHARE = 1 / 4;

export interface TokenReport {
  grantId: string;
  /** For each used token: milliseconds since its use, on the reporter's clock. */
  ages: number[];
  unused: number;
}

interface Grant {
  id: string;
  tokens: number;
  expiresAt: number;
  usedAt: number[];
}

/**
 * The tokens of the organization's window that a key's object has prefetched, for one policy. One
 * token admits one request. They are not stored: if the object loses its memory, the tokens
 * stay reserved at the organization's object until they expire.
 */
export class PrefetchedTokens {
  readonly #limit: number;
  /** Oldest first. */
  #grants: Grant[] = [];

  /** @param limit The key's own limit. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  consume(now: number): boolean {
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
   * How many tokens to prefetch; 0 while enough are left. The target grows with the use of the key:
   * a key with one request a minute prefetches nothing.
   * @param recentUse Requests of the key that were admitted in the last window.
   */
  tokensToPrefetch(recentUse: number, now: number): number {
    const share = Math.floor(recentUse * SHARE_OF_RECENT_USE);
    const target = Math.min(Math.floor(this.#limit * MAX_SHARE_OF_LIMIT), share);
    let left = 0;
    for (const { tokens, expiresAt } of this.#grants) {
      if (now + TOKEN_TTL_MS / 2 < expiresAt) left += tokens;
    }
    return left <= target * RENEWAL_SHARE ? target - left : 0;
  }

  /** Only the changes since the last report. A lost report is not repeated. */
  report(now: number): TokenReport[] {
    const reports: TokenReport[] = [];
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
