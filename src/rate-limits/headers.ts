import type { RateLimitResult } from "./limiter.ts";
import { WINDOW_MS } from "./policies.ts";

/** Whole seconds until further room, rounded up: a caller that waits so long is admitted. */
export function resetSeconds(result: Pick<RateLimitResult, "waitMs">): number {
  return Math.ceil(result.waitMs / 1000);
}

/**
 * The three headers of the contract, and the two of the IETF's draft that succeed them
 * (draft-ietf-httpapi-ratelimit-headers).
 */
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
