import {
  ApiError,
  ConnectionError,
  createClient,
  type Schemas,
  TimeoutError,
} from "../../client/src/index.ts";

export type { Schemas };
export { ApiError };

/** The public API, with the cookie of the session. */
export const client = createClient({ url: location.origin, retries: 2 });

export interface Problem {
  message: string;
  /** What the person can do, if the message does not say it. */
  advice?: string | undefined;
  requestId?: string | undefined;
  /** Of a refused body, by the path of the field. */
  issues: readonly { path: string; message: string }[];
}

export function describeProblem(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { cause, requestId, message } = error;
    const issues = cause && "issues" in cause ? cause.issues : [];
    return { message, advice: adviceFor(error), requestId, issues };
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return {
      message: "The service has not responded.",
      advice: "Check the connection, then retry. A change may have been made.",
      issues: [],
    };
  }
  return { message: error instanceof Error ? error.message : String(error), issues: [] };
}

/** Whether the resource is no longer as it was read. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.cause !== undefined && "etag" in error.cause;
}

function adviceFor({ code, retryAfterMs = 0 }: ApiError): string | undefined {
  if (code === "rate") return `Wait ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s, then retry.`;
  if (code === "conflict") return "Somebody may have changed it. Reload, then retry.";
  if (code === "internal") return "Retry. If it fails again, report the request ID.";
  return undefined;
}
