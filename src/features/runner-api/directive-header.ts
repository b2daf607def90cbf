import type { RequestContext } from "../../http/request-pipeline.ts";
import { DIRECTIVE_HEADER, directiveAfter } from "./errors.ts";

/** Sees to it that every answer of the runner plane says what is desired, a failure too. */
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
