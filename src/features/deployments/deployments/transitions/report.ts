import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import type { ReportedStatus } from "../lifecycle.ts";
import { ACTIVE_STACK_STATUSES, deploymentStacks } from "../table.ts";
import { type AttemptKey, deploymentIdOf, whereLeaseIsValid } from "./lease.ts";
import { applyResources, type ReportedResource } from "./report-resources.ts";

export interface Report {
  stackId: string;
  seq: number;
  status: ReportedStatus;
  statusReason: string | null;
  /** All resources of the stack. Undefined: the report does not include them. */
  resources: readonly ReportedResource[] | undefined;
}

/**
 * Applies a report to a stack that has not ended, if the report is newer than those before. The
 * resources come first, because the update of the stack makes the report no longer newer.
 */
export function applyReport(db: Database, attempt: AttemptKey, report: Report, now: number) {
  const { stackId, seq, status, statusReason } = report;
  const deploymentId = deploymentIdOf(attempt);
  const applies = sql`${whereLeaseIsValid(attempt, now)}
    and exists (select 1 from deployment_stacks as reported
      where reported.deployment_id = ${deploymentId} and reported.stack_id = ${stackId}
        and reported.seq < ${seq} and reported.status in ${ACTIVE_STACK_STATUSES})`;
  return {
    resources:
      report.resources && applyResources(db, { stackId, reported: report.resources, applies, now }),
    stack: db
      .update(deploymentStacks)
      .set({ status, statusReason, seq, timestamp: now })
      .where(
        and(
          sql`${deploymentStacks.deploymentId} = ${deploymentId}`,
          eq(deploymentStacks.stackId, stackId),
          applies,
        ),
      ),
  };
}
