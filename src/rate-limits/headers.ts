import type { RateLimitResult } from "./limiter.ts";
import { WINDOW_MS } from "./policies.ts";

/** Rounded up, so that a client that waits this long is admitted. */
export function resetSeconds(result: Pick<RateLimitResult, "waitMs">): number {
  return Math.ceil(result.waitMs / 1000);
}

/** The three headers of the contract, and the two of draft-ietf-httpapi-ratelimit-headers. */
export function rateLimitHeaders(result: RateLimitResult): Record<string, string> {
  const reset = resetSeconds(result);
  return {
    "x-ratelimit-limit": String(result.limit),
    "x-ratelimit-remaining": String(result.remaining),
    "x-ratelimit-reset": String(reset),
    "ratelimit-policy": `"${result.policy}";q=${result.limit};w=${WINDOW_MS / 1000}`,
    ratelimit: `"${result.policy}";r=${result.remaining};t=${reset}`,
  };
}
