import type { Verdict } from "./limiter.ts";
import { WINDOW_MS } from "./policies.ts";

/** Whole seconds until further room, rounded up: a caller who waits so long is admitted. */
export function resetSeconds(verdict: Pick<Verdict, "waitMs">): number {
  return Math.ceil(verdict.waitMs / 1000);
}

/**
 * The three headers of the contract, and the two of the IETF's draft that succeed them
 * (draft-ietf-httpapi-ratelimit-headers).
 */
export function rateLimitHeaders(verdict: Verdict): Record<string, string> {
  const reset = resetSeconds(verdict);
  return {
    "x-ratelimit-limit": String(verdict.limit),
    "x-ratelimit-remaining": String(verdict.remaining),
    "x-ratelimit-reset": String(reset),
    "ratelimit-policy": `"${verdict.policy}";q=${verdict.limit};w=${WINDOW_MS / 1000}`,
    ratelimit: `"${verdict.policy}";r=${verdict.remaining};t=${reset}`,
  };
}
