import { LIMITS } from "../../../lib/limits.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long to wait after each failure; after one more, the delivery has failed. */
export const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
] as const;

/** Each delay is up to so much shorter or longer, so that what failed together is spread. */
export const JITTER = 0.1;
export const MAX_RETRY_AFTER_MS = LIMITS.retryAfterMs.value;
/** An endpoint that slows us down without saying for how long is left alone for this at the most. */
const MAX_PAUSE_MS = MINUTE;
export const FAILING_MS = LIMITS.failingMs.value;

/** When a delivery is sent again after so many recorded attempts; undefined after the last. */
export function retryAt(
  recordedAttempts: number,
  now: number,
  { random, notBefore = 0 }: { random: () => number; notBefore?: number | undefined },
): number | undefined {
  const delay = RETRY_DELAYS_MS[recordedAttempts - 1];
  if (delay === undefined) return undefined;
  const factor = 1 + JITTER * (2 * random() - 1);
  return Math.max(now + Math.round(delay * factor), notBefore);
}

/** Until when nothing is sent to an endpoint that has asked for rest. */
export function pauseUntil(
  now: number,
  dueAt = Number.POSITIVE_INFINITY,
  notBefore?: number,
): number {
  return notBefore ?? Math.min(dueAt, now + MAX_PAUSE_MS);
}

/** The moment that a header `Retry-After` names (RFC 9110, 10.2.3); undefined for none that counts. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const moment = /^\d+$/.test(text) ? now + Number(text) * SECOND : readHttpDate(text);
  if (moment === undefined || moment <= now) return undefined;
  return Math.min(moment, now + MAX_RETRY_AFTER_MS);
}

const TIME = "\\d{2}:\\d{2}:\\d{2}";
/** The one form that is written, and the two that are to be read as well (RFC 9110, 5.6.7). */
const IMF_DATE = new RegExp(`^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} ${TIME} GMT$`);
const RFC850_DATE = new RegExp(`^[A-Z][a-z]{5,8}, \\d{2}-[A-Z][a-z]{2}-\\d{2} ${TIME} GMT$`);
const ASCTIME_DATE = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME} \\d{4}$`);

function readHttpDate(text: string): number | undefined {
  const isDated = IMF_DATE.test(text) || RFC850_DATE.test(text);
  if (!isDated && !ASCTIME_DATE.test(text)) return undefined;
  const moment = Date.parse(isDated ? text : `${text} GMT`);
  return Number.isNaN(moment) ? undefined : moment;
}
