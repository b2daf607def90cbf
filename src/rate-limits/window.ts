import { WINDOW_MS } from "./policies.ts";

/** When the admitted requests of the last window came, oldest first, in milliseconds. */
export type AdmissionLog = readonly number[];

export interface Decision {
  admitted: boolean;
  /** How many more requests have room now. */
  remaining: number;
  /** Milliseconds until a further request finds room that is not there now. */
  waitMs: number;
  log: AdmissionLog;
}

/**
 * The sliding window log: admits a request at `now` unless `limit` requests were admitted in
 * `(now - 60 s, now]`. So any 60 seconds hold at most `limit` of them, and one that has room is
 * never refused, which the two-bucket estimate gives neither of. A refused request leaves no trace.
 *
 * A clock that steps back is held at the last admission, so that the log stays in order.
 */
export function admit(log: AdmissionLog, limit: number, now: number): Decision {
  const at = Math.max(now, log.at(-1) ?? now);
  const recent = recentAdmissions(log, at);
  const admitted = recent.length < limit;
  if (admitted) recent.push(at);
  const oldest = recent[0] ?? at;
  return {
    admitted,
    remaining: limit - recent.length,
    waitMs: oldest + WINDOW_MS - at,
    log: recent,
  };
}

/** The admissions of the window that ends at `now`. */
export function recentAdmissions(log: AdmissionLog, now: number): number[] {
  return log.filter((time) => time > now - WINDOW_MS);
}
