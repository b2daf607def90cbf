import type { Call } from "../http/request-pipeline.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { ClientAddressLimiter, Limiter } from "../rate-limits/index.ts";
import type { CredentialCache, Principal } from "./credential-cache.ts";
import type { PresentedKey } from "./credentials.ts";

const PARSED_KEYS = 10_000;

/** Reads a credential without any I/O; undefined for one of another kind. */
export type ParseKey = (text: string) => Promise<PresentedKey | undefined>;

/** A valid key, and whom it belongs to as the isolate has it. */
export interface Authenticated<P extends Principal> {
  key: PresentedKey;
  principal: P;
}

/**
 * Finds out whom the key of a request belongs to. A malformed key costs no I/O. A request without a
 * valid key, or with one that may cost a database read, counts once against its client address.
 */
export class Authenticator<P extends Principal> {
  readonly #parseKey: ParseKey;
  readonly #principals: CredentialCache<P>;
  readonly #addressLimiter: ClientAddressLimiter;
  readonly #limiter: Limiter;
  /** Valid keys by their text: to hash one costs more than to look it up. */
  readonly #parsed = new BoundedMap<string, PresentedKey>(PARSED_KEYS);

  constructor(
    parseKey: ParseKey,
    principals: CredentialCache<P>,
    limits: { addressLimiter: ClientAddressLimiter; limiter: Limiter },
  ) {
    this.#parseKey = parseKey;
    this.#principals = principals;
    this.#addressLimiter = limits.addressLimiter;
    this.#limiter = limits.limiter;
  }

  /**
   * Undefined if the request has no valid key.
   * @throws RateLimited if the client address is over its limit.
   */
  async authenticate(call: Call): Promise<Authenticated<P> | undefined> {
    const text = call.request.headers.get("x-api-key") ?? "";
    const key = this.#parsed.get(text) ?? (await this.#parseKey(text));
    if (!key) {
      await this.#addressLimiter.enforce(call);
      return undefined;
    }
    const principal = await this.#find(call, key);
    if (!principal) return undefined;
    this.#parsed.set(text, key);
    return { key, principal };
  }

  async #find(call: Call, key: PresentedKey): Promise<P | undefined> {
    const { DB, RATE_LIMITER } = call.env;
    if (this.#principals.remembers(key)) {
      const principal = await this.#principals.find(DB, key);
      if (!principal) await this.#addressLimiter.enforce(call);
      return principal;
    }
    const refusal = await this.#addressLimiter.consume(call);
    // A key that was used before is not made up, so it is looked up all the same.
    if (refusal && !(await this.#limiter.isKnown(RATE_LIMITER, key.secretHash))) throw refusal;
    return this.#principals.find(DB, key);
  }
}
