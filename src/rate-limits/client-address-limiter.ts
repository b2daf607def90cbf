import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import { RateLimited } from "../lib/errors.ts";
import { describeError, type Log } from "../lib/log.ts";

/** The period of ADDRESS_LIMITER in wrangler.toml. */
export const PERIOD_SECONDS = 60;
const REFUSAL_TTL_MS = 10_000;
const MAX_CACHED_REFUSALS = 10_000;
const NETWORK_GROUPS = 4;
const GROUPS = 8;

export interface ClientRequest {
  request: Request;
  env: Pick<Env, "ADDRESS_LIMITER">;
}

/** Limits requests without a valid key. */
export class ClientAddressLimiter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusedUntil = new BoundedMap<string, number>(MAX_CACHED_REFUSALS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws RateLimited if the address is over its limit. */
  async enforce(request: ClientRequest): Promise<void> {
    const refusal = await this.consume(request);
    if (refusal) throw refusal;
  }

  async consume({ request, env }: ClientRequest): Promise<RateLimited | undefined> {
    // Cloudflare overwrites the value that the client sends.
    const network = clientNetwork(request.headers.get("cf-connecting-ip") ?? "unknown");
    const waitMs = (this.#refusedUntil.get(network) ?? 0) - this.#clock.now();
    if (waitMs > 0) return new RateLimited(Math.ceil(waitMs / 1000));
    if (await this.#isWithinLimit(env.ADDRESS_LIMITER, network)) return undefined;
    this.#refusedUntil.set(network, this.#clock.now() + REFUSAL_TTL_MS);
    return new RateLimited(PERIOD_SECONDS);
  }

  /** Admits the request if the binding fails: this limit protects only against floods. */
  async #isWithinLimit(limiter: RateLimit, network: string): Promise<boolean> {
    try {
      return (await limiter.limit({ key: network })).success;
    } catch (error) {
      this.#log("error", "address_limiter.unavailable", describeError(error));
      return true;
    }
  }
}

/** The IPv4 address, or the /64 of an IPv6 address: one client usually has a whole /64. */
export function clientNetwork(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = Array.from(
    { length: Math.max(0, GROUPS - before.length - after.length) },
    () => "0",
  );
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
