import { LIMITS } from "../../../lib/limits.ts";

export const TIMEOUT_MS = LIMITS.deliveryTimeoutMs.value;

/** What an attempt to send came to. */
export type Outcome = { success: true } | Failure;

export interface Failure {
  success: false;
  /** A short fixed text: the runtime's own messages may contain internal details. */
  error: string;
  /** The endpoint is gone for good. */
  isGone: boolean;
  /** The endpoint, or what is before it, has more to do than it can. */
  asksForRest: boolean;
}

const GONE = 410;
/** Too Many Requests, Bad Gateway, Gateway Timeout. */
const OVERLOADED = [429, 502, 504];

/** What a response means. A redirect is a failure: its target was never checked. */
export function outcomeOf(status: number): Outcome {
  return status >= 200 && status < 300 ? { success: true } : failureOf(status);
}

export function failureOf(status: number): Failure {
  const isRedirect = status >= 300 && status < 400;
  return {
    success: false,
    error: isRedirect ? "redirected" : `answered ${status}`,
    isGone: status === GONE,
    asksForRest: OVERLOADED.includes(status),
  };
}

const failed = (error: string): Failure => ({
  success: false,
  error,
  isGone: false,
  asksForRest: false,
});

/** There is no response, or only a part of one. */
export const TIMED_OUT = failed(`timed out after ${TIMEOUT_MS / 1_000} s`);
export const NO_VALID_RESPONSE = failed("no connection, or lost before a valid response");
export const REQUEST_FAILED = failed("the request failed");
export const TOO_SHORT = failed("the response ended before its declared length");
export const BROKEN_OFF = failed("the response broke off");
export const NOT_DECOMPRESSED = failed("the response could not be decompressed");
export const NOT_READ = failed("the response could not be read");
/** Nothing is sent. */
export const NOT_ALLOWED = failed("the URL is not allowed");
export const NOT_READABLE = failed("the URL or the secret could not be decrypted");
