import { HTTPException } from "hono/http-exception";
import type { z } from "zod";
import { isForeignKeyViolation, isTimeout } from "../db/constraint-errors.ts";
import { ApiError, BadInput, Conflict, DatabaseTimeout, type Issue } from "../lib/errors.ts";

/**
 * The failure that a caller is meant to see for whatever was thrown, or undefined for one that is
 * nobody's business but ours.
 */
export function toApiError(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HTTPException) return fromHono(thrown);
  if (isTimeout(thrown)) return new DatabaseTimeout();
  // Every verb has looked before it writes, so a row that is missing went meanwhile.
  if (isForeignKeyViolation(thrown)) {
    return new Conflict("Something that the request needs was deleted meanwhile. Retry.");
  }
  return undefined;
}

/** Hono's validators refuse a body that they cannot read with an exception of their own. */
function fromHono({ status }: HTTPException): ApiError | undefined {
  if (status === 400) return refusedBody("Send valid JSON.");
  if (status === 415) return refusedContentType();
  return undefined;
}

export function refusedBody(message: string): BadInput {
  return new BadInput([{ path: "", message }]);
}

export function refusedContentType(): BadInput {
  return refusedBody("Send the body with content-type: application/json.");
}

/** What zod found, one issue for each thing to change; an unknown field is named by its path. */
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
