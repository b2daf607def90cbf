import { and, eq, notInArray, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import type { ReportedStatus } from "../deployments/index.ts";
import { deploymentStacks } from "../deployments/table.ts";
import type { ResourceStatusName } from "../resources/index.ts";
import { resources } from "../resources/table.ts";
import { holds, type Reference } from "./store.ts";

export interface ReportedResource {
  id: string;
  templateId: string;
  physicalId: string;
  resourceType: string;
  status: ResourceStatusName;
  statusReason: string | null;
  timestamp: number;
}

export interface Report {
  stackId: string;
  seq: number;
  status: ReportedStatus;
  statusReason: string | null;
  /** Undefined: the report says nothing of them. */
  resources: readonly ReportedResource[] | undefined;
}

/**
 * Takes a report of a stack: its resources first and then the stack itself, because all of the
 * statements ask whether the report is newer than what the stack has. For one batch.
 */
export function applyReport(db: Database, reference: Reference, report: Report, now: number) {
  const { stackId, seq, status, statusReason } = report;
  const deploymentId = sql`(select mine.deployment_id from attempts as mine
    where mine.id = ${reference.id})`;
  const isNews = sql`${holds(reference, now)} and exists (select 1 from deployment_stacks as part
    where part.deployment_id = ${deploymentId} and part.stack_id = ${stackId}
      and part.seq < ${seq} and part.status in ('pending', 'in_progress'))`;
  return {
    resources: report.resources && applyResources(db, stackId, report.resources, isNews, now),
    stack: db
      .update(deploymentStacks)
      .set({ status, statusReason, seq, timestamp: now })
      .where(
        and(
          sql`${deploymentStacks.deploymentId} = ${deploymentId}`,
          eq(deploymentStacks.stackId, stackId),
          isNews,
        ),
      ),
  };
}

function applyResources(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  isNews: SQL,
  now: number,
) {
  return {
    upserted: upsertResources(db, stackId, reported, isNews, now),
    deleted: markGone(db, stackId, reported, isNews, now),
  };
}

function upsertResources(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  isNews: SQL,
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
      where ${isNews}`,
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

/** Those that a report leaves out are gone at the provider, and stay on record. */
function markGone(
  db: Database,
  stackId: string,
  reported: readonly ReportedResource[],
  isNews: SQL,
  now: number,
) {
  const names = JSON.stringify(reported.map(({ templateId }) => templateId));
  return db
    .update(resources)
    .set({ status: "DELETE_COMPLETE", statusReason: null, timestamp: now, updatedAt: now })
    .where(
      and(
        eq(resources.stackId, stackId),
        sql`${resources.status} <> 'DELETE_COMPLETE'`,
        notInArray(resources.templateId, sql`(select value from json_each(${names}))`),
        isNews,
      ),
    );
}
