import { callObject, isOverloaded, type ObjectNamespace } from "../../../lib/call-object.ts";
import { ApiError, RateLimited } from "../../../lib/errors.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { LogStub } from "./messages.ts";

export const LOG_TIMEOUT = new ApiError("timeout", "The log did not respond. Retry in a moment.");

/** What a call of the log of a deployment needs of the context. */
export interface LogObjects {
  logs: { objects: Env["ATTEMPT_LOG"] };
  log: Log;
}

const TIMEOUTS_MS = [5_000, 5_000] as const;
const OVERLOADED_SECONDS = 1;

/**
 * Calls the log of a deployment. Every call is idempotent, so it is repeated once.
 * @throws RateLimited if the log is overloaded, and `timeout` if it fails twice.
 */
export async function callLog<Result>(
  { logs, log }: LogObjects,
  deploymentId: string,
  call: (stub: LogStub) => Promise<Result>,
): Promise<Result> {
  try {
    const stubs = logs.objects as unknown as ObjectNamespace<LogStub>;
    return await callObject(stubs, deploymentId, call, { timeoutsMs: TIMEOUTS_MS });
  } catch (error) {
    if (isOverloaded(error)) throw new RateLimited(OVERLOADED_SECONDS);
    log("error", "log.unavailable", { deployment_id: deploymentId, ...describeError(error) });
    throw LOG_TIMEOUT;
  }
}
