import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { RateLimited } from "../../lib/errors.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { clientNetwork } from "./address.ts";

/** The period of the address limiter in wrangler.toml. */
const PERIOD_SECONDS = 60;
const REMEMBER_MS = 10_000;
const REMEMBERED_NETWORKS = 10_000;

/**
 * The limit on requests without a good key, per client address. An isolate remembers who is over it
 * for a while, so that keys that were made up no longer cost a look into the database.
 */
export class Strangers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusedUntil = new BoundedMap<string, number>(REMEMBERED_NETWORKS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Throws if the address is known to be over the limit. Asks nobody. */
  refuseKnown(address: string): void {
    const until = this.#refusedUntil.get(clientNetwork(address)) ?? 0;
    const waitMs = until - this.#clock.now();
    if (waitMs > 0) throw new RateLimited(Math.ceil(waitMs / 1000));
  }

  /** Counts a request against its address; throws if that is over the limit. */
  async admit(limiter: RateLimit, address: string): Promise<void> {
    this.refuseKnown(address);
    const network = clientNetwork(address);
    if (await this.#asks(limiter, network)) return;
    this.#refusedUntil.set(network, this.#clock.now() + REMEMBER_MS);
    throw new RateLimited(PERIOD_SECONDS);
  }

  /** A limiter that fails keeps nobody out: it guards against floods alone. */
  async #asks(limiter: RateLimit, network: string): Promise<boolean> {
    try {
      return (await limiter.limit({ key: network })).success;
    } catch (error) {
      this.#log("error", "address_limiter.unavailable", describeError(error));
      return true;
    }
  }
}
