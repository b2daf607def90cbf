import { callLog, type LogObjects } from "./client.ts";

/** @throws If a log does not respond, so that the caller keeps the deployments and tries again. */
export async function eraseLogs(deps: LogObjects, deploymentIds: readonly string[]): Promise<void> {
  await Promise.all(deploymentIds.map((id) => callLog(deps, id, (stub) => stub.erase())));
}
