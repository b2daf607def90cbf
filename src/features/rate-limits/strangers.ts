import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { RateLimited } from "../../lib/errors.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { clientNetwork } from "./address.ts";

/** The period of the address limiter in wrangler.toml. */
const PERIOD_SECONDS = 60;
const REMEMBER_MS = 10_000;
const REMEMBERED_NETWORKS = 10_000;

/** A request, and the bindings it came with. */
export interface Arrival {
  request: Request;
  env: Pick<Env, "ADDRESS_LIMITER">;
}

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
  refuseKnown(arrival: Arrival): void {
    const until = this.#refusedUntil.get(networkOf(arrival)) ?? 0;
    const waitMs = until - this.#clock.now();
    if (waitMs > 0) throw new RateLimited(Math.ceil(waitMs / 1000));
  }

  /** Counts a request against its address; throws if that is over the limit. */
  async admit(arrival: Arrival): Promise<void> {
    this.refuseKnown(arrival);
    const network = networkOf(arrival);
    if (await this.#asks(arrival.env.ADDRESS_LIMITER, network)) return;
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

/** Cloudflare names the client's address in this header, whatever the client sends there. */
function networkOf({ request }: Arrival): string {
  return clientNetwork(request.headers.get("cf-connecting-ip") ?? "unknown");
}
