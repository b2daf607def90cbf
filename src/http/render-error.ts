import type { ErrorHandler } from "hono";
import { isAuditLimit, isIdempotencyLimit } from "../db/constraint-errors.ts";
import { HOW_TO_MIGRATE, isSchemaOutdated } from "../db/schema-errors.ts";
import { ApiError, RateLimited } from "../lib/errors.ts";
import { describeError } from "../lib/log.ts";
import { refuseUntilTomorrow } from "../rate-limits/index.ts";
import { toApiError, UNFORESEEN } from "./errors.ts";
import { type AppEnv, contextOf } from "./request-context.ts";

const REPEATS_FULL = new RateLimited(
  3_600,
  "The organization has stored as many responses for repeats as it may in 24 hours. Requests without an " +
    "`Idempotency-Key` are carried out.",
);

/** The response to an unexpected error contains only the request's ID; the log has the details. */
export const renderError: ErrorHandler<AppEnv> = (error, c) => {
  const { requestId, responseHeaders, deps } = contextOf(c);
  const { clock, log } = deps;
  const limited = isIdempotencyLimit(error) ? REPEATS_FULL : error;
  const thrown = isAuditLimit(error) ? refuseUntilTomorrow(responseHeaders, clock) : limited;
  const expected = toApiError(thrown);
  if (!expected) {
    const hint = isSchemaOutdated(thrown) && { hint: HOW_TO_MIGRATE };
    log("error", "unforeseen", { request_id: requestId, ...describeError(thrown), ...hint });
  }
  const shown = expected ?? new ApiError("internal", UNFORESEEN);
  const { code, message, status, headers } = shown;
  const cause = code === "internal" ? { request_id: requestId, ...causeOf(shown) } : shown.cause;
  return Response.json(
    { code, message, ...(cause !== undefined && { cause }) },
    { status, headers },
  );
};

function causeOf({ cause }: ApiError): object {
  return typeof cause === "object" && cause !== null ? cause : {};
}
