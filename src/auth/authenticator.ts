import type { RequestContext } from "../http/request-context.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { ClientAddressLimiter, Limiter } from "../rate-limits/index.ts";
import type { CredentialCache, Principal } from "./credential-cache.ts";
import type { PresentedKey } from "./credentials.ts";

const MAX_PARSED_KEYS = 10_000;

/** Does no I/O. Undefined if the text is malformed or of another kind. */
export type ParseKey = (text: string) => Promise<PresentedKey | undefined>;

/** How requests present a credential. */
export interface CredentialReader {
  /** Empty if the request has none. */
  readCredential(request: Request): string;
  parseKey: ParseKey;
}

export interface Authenticated<P extends Principal> {
  key: PresentedKey;
  /** May be up to 30 s old; the rate limiter reports a newer version of the key. */
  principal: P;
}

/**
 * Authenticates requests by their key. A malformed key costs no I/O. A request without a valid key,
 * or with a key that is not cached, counts once against the limit of its client address.
 */
export class Authenticator<P extends Principal> {
  readonly #reader: CredentialReader;
  readonly #credentials: CredentialCache<P>;
  readonly #addressLimiter: ClientAddressLimiter;
  readonly #limiter: Limiter;
  /** Valid keys by their text: a lookup is cheaper than a hash. */
  readonly #parsedKeys = new BoundedMap<string, PresentedKey>(MAX_PARSED_KEYS);

  constructor(
    reader: CredentialReader,
    credentials: CredentialCache<P>,
    limits: { addressLimiter: ClientAddressLimiter; limiter: Limiter },
  ) {
    this.#reader = reader;
    this.#credentials = credentials;
    this.#addressLimiter = limits.addressLimiter;
    this.#limiter = limits.limiter;
  }

  /**
   * Undefined if the request has no valid key.
   * @throws RateLimited if the client address is over its limit.
   */
  async authenticate(context: RequestContext): Promise<Authenticated<P> | undefined> {
    const text = this.#reader.readCredential(context.request);
    const known = this.#parsedKeys.get(text);
    const key = known ?? (await this.#reader.parseKey(text));
    if (!key) {
      await this.#addressLimiter.enforce(context);
      return undefined;
    }
    const principal = await this.#findPrincipal(context, key);
    if (!principal) return undefined;
    if (!known) this.#parsedKeys.set(text, key);
    return { key, principal };
  }

  async #findPrincipal(context: RequestContext, key: PresentedKey): Promise<P | undefined> {
    const { DB, RATE_LIMITER } = context.env;
    const cached = this.#credentials.cached(key);
    if (cached) {
      if (!cached.principal) await this.#addressLimiter.enforce(context);
      return cached.principal;
    }
    const refusal = await this.#addressLimiter.consume(context);
    // A key that was used before is not made up, so an address over its limit may still use it.
    if (refusal && !(await this.#limiter.isKnown(RATE_LIMITER, key.secretHash))) throw refusal;
    return this.#credentials.find(DB, key);
  }
}
