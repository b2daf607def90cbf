import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../../../http/request-context.ts";
import { ApiError } from "../../../lib/errors.ts";
import { DIRECTIVE_HEADER } from "./directive.ts";

/** Tells the runner with every response whether to continue, also with an error. */
export const runnerDirective: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { responseHeaders } = c.env.context;
  if (c.error) responseHeaders[DIRECTIVE_HEADER] = directiveAfter(c.error);
  else if (!c.res.headers.has(DIRECTIVE_HEADER)) responseHeaders[DIRECTIVE_HEADER] = "continue";
};

/** Without a valid token or an attempt, the runner must stop. */
function directiveAfter(error: unknown): string {
  if (!(error instanceof ApiError)) return "continue";
  const mustStop = error.code === "unauthenticated" || error.code === "not_found";
  return error.headers[DIRECTIVE_HEADER] ?? (mustStop ? "stop" : "continue");
}
