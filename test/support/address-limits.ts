import { env } from "cloudflare:workers";
import { LIMITS } from "../../src/lib/limits.ts";
import { PERIOD_SECONDS } from "../../src/rate-limits/client-address-limiter.ts";

/** Miniflare's, as wrangler.toml configures it. */
export const boundAddressLimiter = env.ADDRESS_LIMITER;

/**
 * Counts requests of client addresses in the isolate of the tests, in windows as Miniflare's. Its binding
 * sends each to a Durable Object, which takes a third of the time of the first request of a key.
 */
export function countAddressesDirectly(): void {
  const counts = new Map<string, number>();
  let current = 0;
  const limit: RateLimit["limit"] = async ({ key }) => {
    const window = Math.floor(Date.now() / (PERIOD_SECONDS * 1000));
    if (window !== current) counts.clear();
    current = window;
    const count = counts.get(key) ?? 0;
    const success = count < LIMITS.addressRequests.value;
    if (success) counts.set(key, count + 1);
    return { success };
  };
  env.ADDRESS_LIMITER = { limit };
}
