import { allowedOrigins } from "../lib/settings.ts";
import type { RequestContext } from "./request-pipeline.ts";
import type { RouteIndex } from "./route-index.ts";

/** The headers that scripts of an allowed origin may read. */
export const EXPOSED_HEADERS = [
  "X-Request-Id",
  "X-D1-Bookmark",
  "X-Ratelimit-Limit",
  "X-Ratelimit-Remaining",
  "X-Ratelimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
  "ETag",
  "Location",
  "Idempotency-Replayed",
  "Retry-After",
  "Deployment-Desired",
  "Allow",
] as const;
const EXPOSED = EXPOSED_HEADERS.join(", ");

/** The longest time that Chromium accepts. */
export const MAX_AGE_SECONDS = 7_200;

const PREFLIGHT_HEADER = "access-control-request-method";
const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "x-api-key, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-d1-bookmark, " +
    "authorization",
  "access-control-max-age": String(MAX_AGE_SECONDS),
};

/**
 * Whether a browser asks if a page of an allowed origin may send a request (Fetch, "CORS-preflight
 * request").
 */
export function isPreflight(context: RequestContext, routes: RouteIndex): boolean {
  const { method, headers } = context.request;
  return (
    method === "OPTIONS" &&
    headers.has(PREFLIGHT_HEADER) &&
    hasAllowedOrigin(context) &&
    isShared(context, routes)
  );
}

export function preflightResponse(): Response {
  return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
}

/** Lets scripts of an allowed origin read the response, also that of an error. Never allows cookies. */
export function setCorsHeaders(
  headers: Headers,
  context: RequestContext,
  routes: RouteIndex,
): void {
  if (allowedOrigins(context.env).length === 0 || !isShared(context, routes)) return;
  headers.append("vary", "Origin");
  if (!hasAllowedOrigin(context)) return;
  headers.set("access-control-allow-origin", String(context.request.headers.get("origin")));
  headers.set("access-control-expose-headers", EXPOSED);
}

function hasAllowedOrigin({ request, env }: RequestContext): boolean {
  const origin = request.headers.get("origin");
  return origin !== null && allowedOrigins(env).includes(origin);
}

/** Whether the request is for the API, and not for a page that a person opens. */
function isShared({ request, path }: RequestContext, routes: RouteIndex): boolean {
  const { method, headers } = request;
  const intended = method === "OPTIONS" && headers.get(PREFLIGHT_HEADER);
  const route = routes.find(intended || method, path);
  return route ? !route.isPage : path.startsWith("/v1/");
}
