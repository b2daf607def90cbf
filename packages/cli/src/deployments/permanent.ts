import { ApiError } from "../../../client/src/index.ts";

/** Whether a repeat of the request would be refused as well. A page that is not Longshore's is a proxy's. */
export function isPermanent(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code === "unexpected_response") return false;
  const isTransient = error.status === 408 || error.status === 429 || error.status >= 500;
  return !isTransient || error.status === 501;
}
