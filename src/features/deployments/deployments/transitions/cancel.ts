import { and, inArray, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../../context.ts";
import { hasExpectedVersion, nextVersion } from "../../../../db/expected-version.ts";
import { CANCEL_TIMEOUT_MS } from "../lifecycle.ts";
import { deploymentStatus, deployments } from "../table.ts";

const { queued, in_progress, canceling, canceled } = deploymentStatus;

/**
 * Cancels queued deployments, and asks the runners of those in progress to cancel. Precedes
 * `finalize` in a batch. `If-Match` is a condition of one deployment only.
 */
export function cancelDeployments(
  ctx: ServiceContext,
  which: { deployment: string } | { project: string },
  now: number,
) {
  return ctx.db
    .update(deployments)
    .set({
      status: sql`case status when ${queued} then ${canceled} else ${canceling} end`,
      cancelDeadline: sql`case status when ${queued} then null else ${now + CANCEL_TIMEOUT_MS} end`,
      finishedAt: sql`case status when ${queued} then ${now} end`,
      updatedAt: now,
      version: nextVersion(deployments.version),
    })
    .where(
      and(
        "project" in which
          ? sql`${deployments.projectId} = ${which.project}`
          : and(
              sql`${deployments.id} = ${which.deployment}`,
              hasExpectedVersion(ctx, deployments.version),
            ),
        inArray(deployments.status, ["queued", "in_progress"]),
      ),
    )
    .returning({ id: deployments.id });
}

/** Before and after the cancellation in the same batch, as JSON, for the changelog. */
export function statusesOfCancel(id: string) {
  const status = sql`(select deployments.status from deployments where deployments.id = ${id})`;
  return {
    before: sql`json_object('status', case ${status} when ${canceled} then ${queued}
      else ${in_progress} end)`,
    after: sql`json_object('status', ${status})`,
  };
}
