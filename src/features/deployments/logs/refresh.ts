import type { SystemContext } from "../../../context.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { callLog, type LogObjects } from "./client.ts";
import type { LogStub } from "./messages.ts";
import * as store from "./store.ts";

/**
 * Notifies the logs of deployments of a change. Never throws: the sweep notifies the logs
 * of attempts that have ended.
 */
export async function refreshLogs(
  deps: LogObjects,
  deploymentIds: readonly string[],
): Promise<void> {
  const some = deploymentIds.slice(0, LIMITS.sweepLogs.value);
  await Promise.all(some.map((id) => isNotified(deps, id, (log) => log.refresh(id))));
}

/** Like `refreshLogs`, for a change that does not end an attempt. */
export async function refreshFollowers(deps: LogObjects, deploymentId: string): Promise<void> {
  await isNotified(deps, deploymentId, (log) => log.refreshFollowers(deploymentId));
}

/** Notifies the logs of ended attempts that have not confirmed the end. */
export async function sweepLogs(ctx: SystemContext): Promise<void> {
  const pending = await store.listPendingLogs(ctx.db, LIMITS.sweepLogs.value);
  const confirmed = await Promise.all(
    pending.map(async ({ attemptId, deploymentId }) => {
      const notified = await isNotified(ctx, deploymentId, (log) => log.refresh(deploymentId));
      return notified ? [attemptId] : [];
    }),
  );
  const attemptIds = confirmed.flat();
  if (attemptIds.length > 0) await store.clearPendingLogs(ctx.db, attemptIds);
}

/** Whether the call succeeded. `callLog` writes the error to the log of the service. */
async function isNotified(
  deps: LogObjects,
  deploymentId: string,
  call: (log: LogStub) => Promise<void>,
): Promise<boolean> {
  return callLog(deps, deploymentId, call).then(
    () => true,
    () => false,
  );
}
