import { WINDOW_MS } from "./policies.ts";

/** The times of the admitted requests of the last window, oldest first, in milliseconds. */
export type AdmissionLog = readonly number[];

export interface Decision {
  admitted: boolean;
  remaining: number;
  /** Milliseconds until one more request is available than now. */
  waitMs: number;
  log: AdmissionLog;
}

/**
 * A sliding window log: admits a request unless `limit` requests were admitted in `(now - 60 s, now]`.
 * It is exact; the two-bucket approximation is not. Refused requests are not counted. If the clock
 * steps back, the time of the last admission is used, so that the log stays in order.
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

export function recentAdmissions(log: AdmissionLog, now: number): number[] {
  return log.filter((time) => time > now - WINDOW_MS);
}
