import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./request-context.ts";

/** A year. Without `includeSubDomains`: other hosts of the domain are not this service. */
export const STRICT_TRANSPORT_SECURITY = "max-age=31536000";

/** The headers of every response. */
export const responseHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { requestId, request, responseHeaders: ofRequest } = c.env.context;
  const { headers } = c.res;
  headers.set("x-request-id", requestId);
  headers.set("x-content-type-options", "nosniff");
  // Browsers ignore it at `http:` (RFC 6797, section 8.1).
  if (request.url.startsWith("https:")) {
    headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
  }
  // Shared caches may store a response to `x-api-key`, unlike one to `Authorization`.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  for (const name in ofRequest) headers.set(name, String(ofRequest[name]));
};
