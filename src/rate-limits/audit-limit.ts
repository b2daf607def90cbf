import { type Clock, DAY_MS } from "../lib/clock.ts";
import { RateLimited } from "../lib/errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { sizeOf } from "../lib/quantities.ts";
import { resetSeconds, setRateLimitHeaders } from "./headers.ts";

/** The refusal of an act whose entry the audit log has no room for before the next day (UTC). */
export function refuseUntilTomorrow(headers: Record<string, string>, clock: Clock): RateLimited {
  const limit = LIMITS.auditEntriesOfDay.value;
  const result = { limit, remaining: 0, waitMs: DAY_MS - (clock.now() % DAY_MS) };
  setRateLimitHeaders(headers, { policy: "organization", ...result }, DAY_MS / 1000);
  const reason = `The audit log of the organization has its ${limit} entries, or ${sizeOf(LIMITS.auditBytesOfDay.value)}, of today (UTC).`;
  return new RateLimited(resetSeconds(result), reason);
}
