import { and, inArray, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../../context.ts";
import type { Database } from "../../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../../db/expected-version.ts";
import { LIMITS } from "../../../../lib/limits.ts";
import { CANCEL_TIMEOUT_MS } from "../lifecycle.ts";
import { deploymentStatus, deployments } from "../table.ts";

const { queued, in_progress, canceling, canceled } = deploymentStatus;

/** Changes nothing if the request expects another version. Precedes `finalize` in a batch, as the next one does. */
export function cancelDeployment(ctx: ServiceContext, id: string, now: number) {
  const isExpected = hasExpectedVersion(ctx, deployments.version);
  return cancelDeployments(ctx.db, and(sql`${deployments.id} = ${id}`, isExpected), now);
}

/**
 * Those of projects that are disconnecting, or of one, as many as one batch may cancel. The sweep continues, and
 * none of the others starts meanwhile.
 */
export function cancelOfDisconnecting(
  db: Database,
  now: number,
  filter: { project: string } | { organization: string } | "everything",
) {
  const disconnecting = sql`select id from projects where connection_status = 'disconnecting'
    and ${isProjectOf(filter)}`;
  const some = sql`(select active.rowid from deployments as active
    where active.project_id in (${disconnecting}) and active.status in (${queued}, ${in_progress})
    limit ${LIMITS.canceledDeployments.value})`;
  return cancelDeployments(db, sql`deployments.rowid in ${some}`, now);
}

function isProjectOf(filter: Parameters<typeof cancelOfDisconnecting>[2]): SQL {
  if (filter === "everything") return sql`true`;
  if ("project" in filter) return sql`id = ${filter.project}`;
  return sql`organization_id = ${filter.organization}`;
}

/** Cancels queued deployments, and asks the runners of those in progress to cancel. */
export function cancelDeployments(db: Database, condition: SQL | undefined, now: number) {
  return db
    .update(deployments)
    .set({
      status: sql`case status when ${queued} then ${canceled} else ${canceling} end`,
      cancelDeadline: sql`case status when ${queued} then null else ${now + CANCEL_TIMEOUT_MS} end`,
      finishedAt: sql`case status when ${queued} then ${now} end`,
      updatedAt: now,
      version: nextVersion(deployments.version),
    })
    .where(and(condition, inArray(deployments.status, ["queued", "in_progress"])))
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
