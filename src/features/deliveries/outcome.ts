/** How long an endpoint has to answer, to the end of what is read of its answer. */
export const TIMEOUT_MS = 15_000;

/** What an attempt to send came to. */
export type Outcome = { success: true } | Failure;

export interface Failure {
  success: false;
  /** A short fixed text: what is shown of it must not tell how it looks inside. */
  error: string;
  /** The endpoint is gone for good. */
  isGone: boolean;
  /** The endpoint, or what is before it, has more to do than it can. */
  asksForRest: boolean;
}

const GONE = 410;
/** Too Many Requests, Bad Gateway, Gateway Timeout. */
const OVERLOADED = [429, 502, 504];

/** What an answer means. A redirect is a failure: its target was never checked. */
export function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return { success: true };
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

/** What it means that there was no answer, or only the beginning of one. */
export const TIMED_OUT = failed(`timed out after ${TIMEOUT_MS / 1_000} s`);
export const NOT_CONNECTED = failed("could not connect");
export const BROKEN_OFF = failed("broke off its answer");
/** What it means that nothing was sent. */
export const NOT_ALLOWED = failed("the URL is not allowed");
export const NOT_READABLE = failed("the URL or the secret could not be decrypted");
