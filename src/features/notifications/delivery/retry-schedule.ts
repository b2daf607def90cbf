import { LIMITS } from "../../../lib/limits.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The delivery attempt after the last delay is the last one. */
export const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
] as const;

/** A share of each delay, so that deliveries that failed together are spread. */
export const JITTER = 0.1;
export const MAX_RETRY_AFTER_MS = LIMITS.retryAfterMs.value;
/** The longest pause of an integration whose endpoint is overloaded and sends no `Retry-After`. */
export const MAX_PAUSE_MS = MINUTE;
export const FAILING_MS = LIMITS.failingMs.value;

export function retryAt(
  earlierAttempts: number,
  now: number,
  { random, notBefore = 0 }: { random: () => number; notBefore?: number | undefined },
): number | undefined {
  const delay = RETRY_DELAYS_MS[earlierAttempts - 1];
  if (delay === undefined) return undefined;
  const factor = 1 + JITTER * (2 * random() - 1);
  return Math.max(now + Math.round(delay * factor), notBefore);
}

export function pauseUntil(
  now: number,
  dueAt = Number.POSITIVE_INFINITY,
  notBefore?: number,
): number {
  return notBefore ?? Math.min(dueAt, now + MAX_PAUSE_MS);
}

/** RFC 9110, 10.2.3. Undefined if the header is invalid or its time is past. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const time = /^\d+$/.test(text) ? now + Number(text) * SECOND : readHttpDate(text);
  if (time === undefined || time <= now) return undefined;
  return Math.min(time, now + MAX_RETRY_AFTER_MS);
}

const TIME_OF_DAY = "\\d{2}:\\d{2}:\\d{2}";
/** The preferred form, and two obsolete ones that recipients accept too (RFC 9110, 5.6.7). */
const IMF_DATE = new RegExp(`^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} ${TIME_OF_DAY} GMT$`);
const RFC850_DATE = new RegExp(`^[A-Z][a-z]{5,8}, \\d{2}-[A-Z][a-z]{2}-\\d{2} ${TIME_OF_DAY} GMT$`);
const ASCTIME_DATE = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME_OF_DAY} \\d{4}$`);

function readHttpDate(text: string): number | undefined {
  const hasZone = IMF_DATE.test(text) || RFC850_DATE.test(text);
  if (!hasZone && !ASCTIME_DATE.test(text)) return undefined;
  const time = Date.parse(hasZone ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
