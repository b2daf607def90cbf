import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import { insertFrom } from "../../../../db/insert-from.ts";
import { LIMITS } from "../../../../lib/limits.ts";
import { stacks } from "../../../tenancy/stack-table.ts";
import { markChanged } from "../../resources/index.ts";
import { DELETED, type ResourceStatus } from "../../resources/model.ts";
import { isDeleted, isLive, resources } from "../../resources/table.ts";

export interface ReportedResource {
  id: string;
  templateId: string;
  physicalId: string;
  resourceType: string;
  status: ResourceStatus;
  statusReason: string | null;
  timestamp: number;
}

interface ReportOfResources {
  stackId: string;
  /** At most `LIMITS.reportedResources`. */
  reported: readonly ReportedResource[];
  /** Whether these are all resources of the stack. */
  isComplete: boolean;
  /** Whether the report applies. */
  applies: SQL;
  now: number;
}

/**
 * After it, a stack has at most as many rows as may be reported and as may be deleted. Few rows are read if the
 * new resources come last.
 */
export function applyResources(db: Database, report: ReportOfResources) {
  const { stackId, reported, applies, now } = report;
  const marked = markChanged(db, and(eq(stacks.id, stackId), applies), now);
  if (report.isComplete) {
    return {
      removed: removeSurplus(db, report),
      deleted: markDeleted(db, report),
      upserted: upsertChanged(db, report),
      marked,
    };
  }
  const fits = sql`${countLive(stackId, reported)} <= ${LIMITS.reportedResources.value}`;
  const fitting = { ...report, applies: sql`${applies} and ${fits}` };
  return { removed: removeSurplus(db, fitting), upserted: upsertChanged(db, fitting), marked };
}

/** How many live resources the stack has once these have changed. */
export function countLive(
  stackId: string,
  reported: readonly Pick<ReportedResource, "templateId" | "status">[],
): SQL<number> {
  const added = reported.filter(({ status }) => status !== DELETED).length;
  return sql`(select count(*) + ${added} from resources
    where ${eq(resources.stackId, stackId)} and ${isLive} and ${isOmitted(reported)})`;
}

/**
 * Deletes the omitted resources that are beyond the bounds: those that are live now are the newest of the deleted,
 * if the report is complete.
 * Considers as many rows as there can be within the bounds, so that a stack with more, such as after a bound was
 * lowered, loses some with each report.
 */
function removeSurplus(
  db: Database,
  { stackId, reported, isComplete, applies, now }: ReportOfResources,
) {
  const { reportedResources, deletedResources, deletedResourceMs } = LIMITS;
  const considered = reportedResources.value + deletedResources.value;
  const kept = deletedResources.value - reported.filter(({ status }) => status === DELETED).length;
  const omitted = sql`select rowid as row, id, updated_at, ${isDeleted} as is_deleted
    from resources where ${eq(resources.stackId, stackId)} and ${isOmitted(reported)} and ${applies}
      ${isComplete ? sql`` : sql`and ${isDeleted}`}
    order by ${resources.createdAt}, ${resources.id} limit ${considered}`;
  const isOld = sql`is_deleted and updated_at <= ${now - deletedResourceMs.value}`;
  // A window function would read each row twice more.
  const ordered = sql`select json_group_array(json_array(row, ${isOld})
    order by is_deleted, updated_at desc, id desc) from (${omitted})`;
  const surplus = sql`select value ->> 0 from json_each((${ordered}))
    where key >= ${kept} or value ->> 1`;
  return db.delete(resources).where(sql`resources.rowid in (${surplus})`);
}

/** Writes only the resources that differ from what is stored. */
function upsertChanged(db: Database, { stackId, reported, applies, now }: ReportOfResources) {
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
    // A report without a time has its own, which alone is no change.
    setWhere: sql`(resources.physical_id, resources.resource_type, resources.status,
        resources.status_reason) is not (excluded.physical_id, excluded.resource_type,
        excluded.status, excluded.status_reason)
      or excluded.timestamp not in (resources.timestamp, ${now})`,
  });
}

/** The provider has deleted the resources that a report omits. */
function markDeleted(db: Database, { stackId, reported, applies, now }: ReportOfResources) {
  return db
    .update(resources)
    .set({ status: DELETED, statusReason: null, timestamp: now, updatedAt: now })
    .where(and(eq(resources.stackId, stackId), isLive, isOmitted(reported), applies));
}

function isOmitted(reported: readonly Pick<ReportedResource, "templateId">[]): SQL {
  const templateIds = JSON.stringify(reported.map(({ templateId }) => templateId));
  return sql`${resources.templateId} not in (select value from json_each(${templateIds}))`;
}
