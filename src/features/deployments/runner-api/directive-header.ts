import type { RequestContext } from "../../../http/request-pipeline.ts";
import { ApiError } from "../../../lib/errors.ts";
import { DIRECTIVE_HEADER } from "./directive.ts";

/** Errors have the header too. */
export async function withDirective(
  { responseHeaders }: Pick<RequestContext, "responseHeaders">,
  work: Promise<Response>,
): Promise<Response> {
  try {
    const response = await work;
    if (!response.headers.has(DIRECTIVE_HEADER)) responseHeaders[DIRECTIVE_HEADER] = "continue";
    return response;
  } catch (error) {
    responseHeaders[DIRECTIVE_HEADER] = directiveAfter(error);
    throw error;
  }
}

/** Without a valid token or an attempt, the runner must stop. */
function directiveAfter(error: unknown): string {
  if (!(error instanceof ApiError)) return "continue";
  const mustStop = error.code === "unauthenticated" || error.code === "not_found";
  return error.headers[DIRECTIVE_HEADER] ?? (mustStop ? "stop" : "continue");
}
