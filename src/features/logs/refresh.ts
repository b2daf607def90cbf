import type { SystemContext } from "../../context.ts";
import { LIMITS } from "../../lib/limits.ts";
import { callLog } from "./client.ts";
import * as store from "./store.ts";

/**
 * Tells the logs of deployments that the deployments have changed. Never throws: the sweep tells the logs
 * of attempts that have ended.
 */
export async function refreshLogs(
  deps: Pick<SystemContext, "logs" | "log">,
  deploymentIds: readonly string[],
): Promise<void> {
  await Promise.all(
    deploymentIds.slice(0, LIMITS.sweepLogs.value).map((id) => refreshLog(deps, id)),
  );
}

/** Tells the logs of ended attempts that have not confirmed the end. */
export async function sweepLogs(ctx: SystemContext): Promise<void> {
  const pending = await store.listPendingLogs(ctx.db, LIMITS.sweepLogs.value);
  const told = await Promise.all(
    pending.map(async ({ attemptId, deploymentId }) => {
      return (await refreshLog(ctx, deploymentId)) ? [attemptId] : [];
    }),
  );
  const attemptIds = told.flat();
  if (attemptIds.length > 0) await store.clearPendingLogs(ctx.db, attemptIds);
}

/** Whether it succeeded. `callLog` writes the error to the log of the service. */
async function refreshLog(
  deps: Pick<SystemContext, "logs" | "log">,
  deploymentId: string,
): Promise<boolean> {
  return callLog(deps, deploymentId, (stub) => stub.refresh(deploymentId)).then(
    () => true,
    () => false,
  );
}
