export type Outcome = { success: true } | Failure;

export interface Failure {
  success: false;
  /** A short fixed text: the runtime's own messages may contain internal details. */
  error: string;
  /** The endpoint no longer exists (410). */
  isGone: boolean;
  /** The endpoint, or a proxy in front of it, is overloaded (429, 502, 504, or no response in time). */
  isThrottled: boolean;
}

export interface Result {
  outcome: Outcome;
  statusCode?: number;
  /** The beginning of the response. */
  response?: string;
  notBefore?: number | undefined;
}

export interface DeliveryAttempt extends Result {
  startedAt: number;
  durationMs: number;
}

export function failure(error: string): Failure {
  return { success: false, error, isGone: false, isThrottled: false };
}

/** A redirect is a failure: its target was not checked. */
export function outcomeOf(status: number): Outcome {
  return status >= 200 && status < 300 ? { success: true } : failureOf(status);
}

export function failureOf(status: number): Failure {
  const isRedirect = status >= 300 && status < 400;
  return {
    success: false,
    error: isRedirect ? "redirected" : `answered ${status}`,
    isGone: status === 410,
    isThrottled: [429, 502, 504].includes(status),
  };
}
