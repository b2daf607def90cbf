import type { MiddlewareHandler } from "hono";
import { allowedOrigins } from "../lib/settings.ts";
import type { AppEnv, RequestContext } from "./request-context.ts";

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

/** Lets scripts of an allowed origin read the responses of the API, also those of errors. Never allows cookies. */
export const cors: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { context } = c.env;
  if (allowedOrigins(context.env).length === 0 || !isShared(context.path)) return next();
  const isAllowed = hasAllowedOrigin(context);
  if (isAllowed && isPreflight(context)) {
    await context.deps.limitAddress(context);
    c.res = new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
  } else {
    await next();
  }
  c.res.headers.append("vary", "Origin");
  if (!isAllowed) return;
  c.res.headers.set("access-control-allow-origin", String(context.request.headers.get("origin")));
  c.res.headers.set("access-control-expose-headers", EXPOSED);
};

/** Whether a browser asks if a page may send a request (Fetch, "CORS-preflight request"). */
function isPreflight({ request }: RequestContext): boolean {
  return request.method === "OPTIONS" && request.headers.has(PREFLIGHT_HEADER);
}

function hasAllowedOrigin({ request, env }: RequestContext): boolean {
  const origin = request.headers.get("origin");
  return origin !== null && allowedOrigins(env).includes(origin);
}

const SHARED_PATHS = ["/health", "/openapi.json"];
/** Slack sends people there. */
const PAGES = ["/v1/slack/callback"];

/** Whether the path is of the API, and no page that a person opens. */
function isShared(path: string): boolean {
  return SHARED_PATHS.includes(path) || (path.startsWith("/v1/") && !PAGES.includes(path));
}
