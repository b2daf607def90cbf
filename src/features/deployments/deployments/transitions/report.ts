import { and, eq, notInArray, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import { insertFrom } from "../../../../db/insert-from.ts";
import type { ResourceStatus } from "../../resources/model.ts";
import { resources } from "../../resources/table.ts";
import type { ReportedStatus } from "../lifecycle.ts";
import { ACTIVE_STACK_STATUSES, deploymentStacks } from "../table.ts";
import { type AttemptKey, deploymentIdOf, whereLeaseIsValid } from "./lease.ts";

export interface ReportedResource {
  id: string;
  templateId: string;
  physicalId: string;
  resourceType: string;
  status: ResourceStatus;
  statusReason: string | null;
  timestamp: number;
}

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
    resources: report.resources && applyResources(db, stackId, report.resources, applies, now),
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

function applyResources(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  applies: SQL,
  now: number,
) {
  return {
    upserted: upsertResources(db, stackId, reported, applies, now),
    deleted: markDeleted(db, stackId, reported, applies, now),
  };
}

function upsertResources(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  applies: SQL,
  now: number,
) {
  const field = (name: keyof ReportedResource) => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;
  return insertFrom(
    db,
    resources,
    {
      id: field("id"),
      organizationId: sql`stacks.organization_id`,
      projectId: sql`stacks.project_id`,
      environmentId: sql`stacks.environment_id`,
      stackId: sql`stacks.id`,
      templateId: field("templateId"),
      physicalId: field("physicalId"),
      resourceType: field("resourceType"),
      status: field("status"),
      statusReason: field("statusReason"),
      timestamp: field("timestamp"),
      createdAt: now,
      updatedAt: now,
    },
    sql`from json_each(${JSON.stringify(reported)}) as item join stacks on stacks.id = ${stackId}
      where ${applies}`,
  ).onConflictDoUpdate({
    target: [resources.stackId, resources.templateId],
    set: {
      physicalId: sql`excluded.physical_id`,
      resourceType: sql`excluded.resource_type`,
      status: sql`excluded.status`,
      statusReason: sql`excluded.status_reason`,
      timestamp: sql`excluded.timestamp`,
      updatedAt: sql`excluded.updated_at`,
    },
  });
}

/** The provider has deleted the resources that a report omits. Their rows remain. */
function markDeleted(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  applies: SQL,
  now: number,
) {
  const templateIds = JSON.stringify(reported.map(({ templateId }) => templateId));
  return db
    .update(resources)
    .set({ status: "DELETE_COMPLETE", statusReason: null, timestamp: now, updatedAt: now })
    .where(
      and(
        eq(resources.stackId, stackId),
        sql`${resources.status} <> 'DELETE_COMPLETE'`,
        notInArray(resources.templateId, sql`(select value from json_each(${templateIds}))`),
        applies,
      ),
    );
}
