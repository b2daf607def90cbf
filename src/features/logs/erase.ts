import type { SystemContext } from "../../context.ts";
import { callLog } from "./client.ts";

/** @throws If a log does not respond, so that the caller keeps the deployments and tries again. */
export async function eraseLogs(
  deps: Pick<SystemContext, "logs" | "log">,
  deploymentIds: readonly string[],
): Promise<void> {
  await Promise.all(deploymentIds.map((id) => callLog(deps, id, (stub) => stub.erase())));
}
