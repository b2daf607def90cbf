import type { Call } from "../../http/request-pipeline.ts";
import { DESIRED, desiredAfter } from "./errors.ts";

/** Sees to it that every answer of the runner plane says what is desired, a failure too. */
export async function tellDesired(
  { trace }: Pick<Call, "trace">,
  work: Promise<Response>,
): Promise<Response> {
  try {
    const response = await work;
    if (!response.headers.has(DESIRED)) trace.headers[DESIRED] = "continue";
    return response;
  } catch (error) {
    trace.headers[DESIRED] = desiredAfter(error);
    throw error;
  }
}
