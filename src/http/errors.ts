import { HTTPException } from "hono/http-exception";
import type { z } from "zod";
import { isForeignKeyViolation, isTimeout } from "../db/constraint-errors.ts";
import { ApiError, BadInput, Conflict, DatabaseTimeout, type Issue } from "../lib/errors.ts";

export const DELETED_MEANWHILE = new Conflict(
  "Something that the request needs was deleted meanwhile. Retry.",
);

/** The message of an unexpected error. */
export const UNFORESEEN = "Something failed on our side. A retry may succeed.";

/** Undefined if `thrown` is unexpected. */
export function toApiError(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HTTPException) return fromHono(thrown);
  if (isTimeout(thrown)) return new DatabaseTimeout();
  // Services check that the rows they refer to exist, so this row was deleted after the check.
  if (isForeignKeyViolation(thrown)) return DELETED_MEANWHILE;
  return undefined;
}

/** Hono's validators throw their own exception for a body that they cannot parse. */
function fromHono({ status }: HTTPException): ApiError | undefined {
  if (status === 400) return invalidBody("Send valid JSON.");
  if (status === 415) return unsupportedContentType();
  return undefined;
}

export function invalidBody(message: string): BadInput {
  return new BadInput([{ path: "", message }]);
}

export function unsupportedContentType(): BadInput {
  return invalidBody("Send the body with content-type: application/json.");
}

/** One issue for each unknown field: zod reports all unknown fields of an object as one issue. */
export function toIssues(error: z.core.$ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") {
      return [{ path: issue.path.join("."), message: issue.message }];
    }
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join("."),
      message: "Unknown field; remove it.",
    }));
  });
}
