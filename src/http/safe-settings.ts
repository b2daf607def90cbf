import type { MiddlewareHandler } from "hono";
import { requireSafeSettings } from "../lib/settings.ts";
import type { AppEnv } from "./request-context.ts";

/** Refuses requests while the settings are unsafe, but for the one that says what is wrong. */
export const requireSafety: MiddlewareHandler<AppEnv> = (c, next) => {
  const { path, request, requestId, env, deps } = c.env.context;
  if (path !== "/health") {
    requireSafeSettings(env, deps.log, { requestUrl: request.url, requestId });
  }
  return next();
};
