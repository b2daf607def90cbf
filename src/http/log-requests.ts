import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./request-context.ts";

/** One line in the log for each request. */
export const logRequests: MiddlewareHandler<AppEnv> = async (c, next) => {
  const start = performance.now();
  await next();
  const { requestId, request, requestLog, deps } = c.env.context;
  deps.log("info", "request", {
    request_id: requestId,
    method: request.method,
    route: requestLog.route,
    status: c.res.status,
    duration_ms: Math.round(performance.now() - start),
    key_id: requestLog.keyId,
    session_id: requestLog.sessionId,
    organization_id: requestLog.organizationId,
  });
};
