import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import { RateLimited } from "../lib/errors.ts";
import { describeError, type Log } from "../lib/log.ts";
import { clientNetwork } from "./address.ts";

/** The period of ADDRESS_LIMITER in wrangler.toml. */
const PERIOD_SECONDS = 60;
const CACHE_MS = 10_000;
const CACHED_NETWORKS = 10_000;

/** A request, and the bindings it came with. */
export interface AddressedRequest {
  request: Request;
  env: Pick<Env, "ADDRESS_LIMITER">;
}

/**
 * The limit on requests without a valid key, per client address. An isolate caches for 10 s which
 * addresses are over it.
 */
export class ClientAddressLimiter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusedUntil = new BoundedMap<string, number>(CACHED_NETWORKS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Counts a request against its address.
   * @throws RateLimited if the address is over its limit.
   */
  async enforce(request: AddressedRequest): Promise<void> {
    const refusal = await this.consume(request);
    if (refusal) throw refusal;
  }

  /** Counts a request against its address, and returns the error if that is over its limit. */
  async consume(request: AddressedRequest): Promise<RateLimited | undefined> {
    const network = networkOf(request);
    const waitMs = (this.#refusedUntil.get(network) ?? 0) - this.#clock.now();
    if (waitMs > 0) return new RateLimited(Math.ceil(waitMs / 1000));
    if (await this.#hasRoom(request.env.ADDRESS_LIMITER, network)) return undefined;
    this.#refusedUntil.set(network, this.#clock.now() + CACHE_MS);
    return new RateLimited(PERIOD_SECONDS);
  }

  /** A limiter that fails refuses nobody: it only guards against floods. */
  async #hasRoom(limiter: RateLimit, network: string): Promise<boolean> {
    try {
      return (await limiter.limit({ key: network })).success;
    } catch (error) {
      this.#log("error", "address_limiter.unavailable", describeError(error));
      return true;
    }
  }
}

/** Cloudflare sets this header to the client's address, whatever the client sends there. */
function networkOf({ request }: AddressedRequest): string {
  return clientNetwork(request.headers.get("cf-connecting-ip") ?? "unknown");
}
