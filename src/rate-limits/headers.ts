import type { RateLimitResult } from "./limiter.ts";
import { WINDOW_MS } from "./policies.ts";

const WINDOW_SECONDS = WINDOW_MS / 1000;

/** Rounded up, so that a client that waits this long is admitted. */
export function resetSeconds(result: Pick<RateLimitResult, "waitMs">): number {
  return Math.ceil(result.waitMs / 1000);
}

type Shown = Pick<RateLimitResult, "policy" | "limit" | "remaining" | "waitMs">;

/** The three headers of the contract, and the two of draft-ietf-httpapi-ratelimit-headers. */
export function setRateLimitHeaders(
  headers: Record<string, string>,
  { policy, limit, remaining, waitMs }: Shown,
  windowSeconds = WINDOW_SECONDS,
): void {
  const reset = resetSeconds({ waitMs });
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(reset);
  headers["ratelimit-policy"] = `"${policy}";q=${limit};w=${windowSeconds}`;
  headers["ratelimit"] = `"${policy}";r=${remaining};t=${reset}`;
}
