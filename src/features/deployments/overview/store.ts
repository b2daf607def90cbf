import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, limitPageBytes, PAGE_POSITION, type PageRequest } from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { environments } from "../../tenancy/environment-table.ts";
import type { DeploymentStatus } from "../deployments/index.ts";
import { deploymentStatus, RUNNING_STATUSES } from "../deployments/table.ts";

export type EnvironmentOverviewRow = Awaited<ReturnType<typeof listEnvironmentOverviews>>[number];

/** Of the JSON that the list selects. */
export interface DeploymentSummaryRow {
  id: string;
  status: DeploymentStatus;
  /** JSON. */
  source: string | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  updatedAt: number;
}

/** The bytes of an environment with two deployments, as sent, without their texts. */
const FIXED_BYTES = 700;

/** The running one, or else the one that starts next. */
const ACTIVE_ID = sql`coalesce(
  (select running.id from deployments as running indexed by deployments_active
    where running.environment_id = environments.id and running.status in ${RUNNING_STATUSES}),
  (select queued.id from deployments as queued
    where queued.environment_id = environments.id and queued.status = ${deploymentStatus.queued}
    order by queued.created_at, queued.id limit 1))`.as("active_id");

/** Not one that was superseded, which never ran. Each branch reads one row of an index. */
const LAST_ID = sql`(select item.id from (
    ${newestWith(deploymentStatus.succeeded)}
    union all ${newestWith(deploymentStatus.failed)}
    union all ${newestWith(deploymentStatus.canceled)}) as item
  order by item.created_at desc, item.id desc limit 1)`.as("last_id");

function newestWith(status: SQL): SQL {
  return sql`select * from (select ended.id, ended.created_at from deployments as ended
    where ended.environment_id = environments.id and ended.status = ${status}
    order by ended.created_at desc, ended.id desc limit 1)`;
}

export function listEnvironmentOverviews(
  db: Database,
  actor: Actor,
  projectId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, environments.createdAt, environments.id);
  const { id, createdAt, name } = environments;
  const found = db
    .select({ id, createdAt, name, activeId: ACTIVE_ID, lastId: LAST_ID })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, actor.organizationId),
        eq(environments.projectId, projectId),
        isOneOf(environments.id, actor.environmentIds),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  const size = sql`${sql.raw(String(FIXED_BYTES))} + octet_length(json_quote(name))
    + ${sourceBytes("active_id")} + ${sourceBytes("last_id")} as size`;
  const item = sql`json_array(id, name, created_at, active_id, last_id) as id`;
  return (
    db
      .select({
        id: sql<string>`page.id ->> 0`.as("overview_id"),
        name: sql<string>`page.id ->> 1`.as("overview_name"),
        createdAt: sql<number>`page.id ->> 2`.as("overview_created_at"),
        active: summaryOf(sql`page.id ->> 3`).as("active_deployment"),
        last: summaryOf(sql`page.id ->> 4`).as("last_deployment"),
        ...PAGE_POSITION,
      })
      // Without its own limit, SQLite would measure each source twice.
      .from(limitPageBytes(page, sql`(select ${item}, ${size} from ${found} limit ${limit})`))
  );
}

function sourceBytes(column: "active_id" | "last_id"): SQL {
  return sql`coalesce((select octet_length(measured.source) from deployments as measured
    where measured.id = ${sql.raw(column)}), 0)`;
}

/** JSON of a `DeploymentSummaryRow`. Null if there is no deployment. */
function summaryOf(id: SQL) {
  return sql<string | null>`(select json_object('id', shown.id, 'status', shown.status,
      'source', shown.source, 'createdAt', shown.created_at, 'startedAt', shown.started_at,
      'finishedAt', shown.finished_at, 'updatedAt', shown.updated_at)
    from deployments as shown where shown.id = ${id})`;
}
