import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import { LIMITS } from "../../../../lib/limits.ts";
import { stacks } from "../../../tenancy/stack-table.ts";
import type { ReportedStatus } from "../lifecycle.ts";
import { ACTIVE_STACK_STATUSES, deploymentStacks } from "../table.ts";
import { type AttemptKey, deploymentIdOf, whereLeaseIsValid } from "./lease.ts";
import { applyResources, type ReportedResource } from "./report-resources.ts";

export interface Report {
  stackId: string;
  seq: number;
  status: ReportedStatus;
  statusReason: string | null;
  /** Undefined: the report does not include them. */
  resources: readonly ReportedResource[] | undefined;
  /** Whether these are all resources of the stack. */
  isComplete: boolean;
  /** JSON: an object of all outputs of the stack. Only those of a success are kept. */
  outputs: string;
}

/**
 * Applies a report to a stack that has not ended, if the report is newer than those before. The update of
 * the row of the deployment is last, because it makes the report no longer newer.
 */
export function applyReport(db: Database, attempt: AttemptKey, report: Report, now: number) {
  const { stackId, seq, status, statusReason, resources: reported, isComplete } = report;
  const deploymentId = deploymentIdOf(attempt);
  const applies = sql`${whereLeaseIsValid(attempt, now)}
    and exists (select 1 from deployment_stacks as reported
      where reported.deployment_id = ${deploymentId} and reported.stack_id = ${stackId}
        and reported.seq < ${seq} and reported.status in ${ACTIVE_STACK_STATUSES})`;
  return {
    resources: reported && applyResources(db, { stackId, reported, isComplete, applies, now }),
    success: status === "succeeded" ? storeSuccess(db, report, applies, now) : undefined,
    stack: db
      .update(deploymentStacks)
      .set({
        status,
        statusReason,
        seq,
        timestamp: now,
        startedAt: sql`coalesce(${deploymentStacks.startedAt}, ${now})`,
      })
      .where(
        and(
          sql`${deploymentStacks.deploymentId} = ${deploymentId}`,
          eq(deploymentStacks.stackId, stackId),
          applies,
        ),
      ),
  };
}

/** Stores the success with its outputs, unless those of the environment would exceed the limit. */
function storeSuccess(db: Database, { stackId, outputs }: Report, applies: SQL, now: number) {
  const areNew = sql`(${stacks.outputs} <> ${outputs}
    and octet_length(${outputs}) + coalesce((select sum(octet_length(other.outputs)) from stacks as other
      where other.environment_id = ${stacks.environmentId} and other.id <> ${stackId}
        and other.outputs <> '{}'), 0) <= ${LIMITS.outputBytesOfEnvironment.value})`;
  return db
    .update(stacks)
    .set({
      succeededAt: now,
      outputs: sql`iif(${areNew}, ${outputs}, ${stacks.outputs})`,
      version: sql`${stacks.version} + ${areNew}`,
    })
    .where(and(eq(stacks.id, stackId), applies));
}
