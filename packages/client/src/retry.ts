import { ApiError, ConnectionError, TimeoutError } from "./errors.ts";

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
const JITTER = 0.5;

/** Whether a repeat may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return isTooEarly(error) || mayHaveWorked(error);
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/** Whether the service may have done the work of the request that failed. */
export function mayHaveWorked(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status === 408 || (error.status >= 500 && error.status !== 501);
}

/** Whether the service has not begun the work. */
export function isTooEarly(error: unknown): boolean {
  return error instanceof ApiError && error.status === 429;
}

/** At least as long as the service asks. @param tries How many have failed before this one. */
export function retryDelayMs(error: unknown, tries: number): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS);
  const jitter = backoff * JITTER * Math.random();
  return asked === undefined ? backoff - jitter : asked + jitter;
}

/** Reads `Retry-After`: seconds, or a date. */
export function parseRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Rejects with the reason of the signal if it aborts first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
