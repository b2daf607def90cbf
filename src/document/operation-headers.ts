import type { RouteConfig } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { credentialsOf, type Declared } from "../http/declared.ts";
import { type ApiError, EtagMismatch } from "../lib/errors.ts";
import {
  IDEMPOTENCY_KEY_REUSED,
  INVALID_IDEMPOTENCY_KEY,
  INVALID_IF_MATCH,
  INVALID_IF_NONE_MATCH,
  UNSUPPORTED_IF_MATCH,
  UNSUPPORTED_IF_NONE_MATCH,
} from "../lib/header-errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { durationOf } from "../lib/quantities.ts";

const TAG = '"3.5f0c8a526f0e4a539d0f3f8e"';

const IDEMPOTENCY_KEY = z
  .string()
  .optional()
  .openapi({
    description:
      `A text of your own, new for each request. For ${durationOf(LIMITS.idempotencyMs.value)}, a repeat with the same key gets the response ` +
      "to the first request, if the caller still has the access that the request needs. If its resource was " +
      "deleted since, an admin gets the response, and others `not_found`.",
    pattern: `^[\\x21-\\x7E]{1,${LIMITS.idempotencyKeyLength.value}}$`,
    example: "deploy-4711-attempt-1",
  });
const IF_MATCH = z.string().optional().openapi({
  description: "`ETag`s, or `*`. Another version of the resource is a `conflict`.",
  example: TAG,
});
const IF_NONE_MATCH = z.string().optional().openapi({
  description: "`ETag`s. The reply is 304 if the response would have one of them.",
  example: TAG,
});

/** Which headers of safe writes a route reads. */
function headersOf(operation: Declared) {
  const { method, resource: isResource = false, polled: isPolled = false } = operation;
  const credentials = credentialsOf(operation.access);
  return {
    hasIdempotencyKey: credentials.includes("api_key") && ["post", "patch"].includes(method),
    hasIfMatch: isResource && ["put", "patch", "delete"].includes(method),
    hasIfNoneMatch: (isResource || isPolled) && method === "get",
    isWrite:
      (credentials.includes("api_key") || credentials.includes("session")) && method !== "get",
  };
}

/** The errors that the headers cause. */
export function headerErrors(operation: Declared): Readonly<Record<string, ApiError>> {
  const { hasIdempotencyKey, hasIfMatch, hasIfNoneMatch, isWrite } = headersOf(operation);
  return {
    ...(isWrite && { if_none_match_of_write: UNSUPPORTED_IF_NONE_MATCH }),
    ...(isWrite && !hasIfMatch && { unsupported_if_match: UNSUPPORTED_IF_MATCH }),
    ...(hasIdempotencyKey && {
      invalid_idempotency_key: INVALID_IDEMPOTENCY_KEY,
      idempotency_key_reused: IDEMPOTENCY_KEY_REUSED,
    }),
    ...(hasIfMatch && { invalid_if_match: INVALID_IF_MATCH, etag_differs: new EtagMismatch(TAG) }),
    ...(hasIfNoneMatch && { invalid_if_none_match: INVALID_IF_NONE_MATCH }),
  };
}

/** The route with the headers as parameters, and with the reply to `If-None-Match`. */
export function withHeaderParameters(route: RouteConfig, operation: Declared): RouteConfig {
  const { hasIdempotencyKey, hasIfMatch, hasIfNoneMatch } = headersOf(operation);
  if (!hasIdempotencyKey && !hasIfMatch && !hasIfNoneMatch) return route;
  const headers = z.object({
    ...(hasIdempotencyKey && { "Idempotency-Key": IDEMPOTENCY_KEY }),
    ...(hasIfMatch && { "If-Match": IF_MATCH }),
    ...(hasIfNoneMatch && { "If-None-Match": IF_NONE_MATCH }),
  });
  const notModified = {
    304: { description: "The response still has the `ETag`; there is no body." },
  };
  return {
    ...route,
    request: { ...route.request, headers },
    responses: { ...route.responses, ...(hasIfNoneMatch && notModified) },
  };
}
