import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, limitPageBytes, PAGE_POSITION, type PageRequest } from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { environments, POSITION } from "../../tenancy/environment-table.ts";
import { deploymentStatus, RUNNING_STATUSES } from "../deployments/table.ts";
import { ALARMS, HEALTH, queueOf, recentOf, summaryOf, URL } from "./environment-state.ts";

export type EnvironmentOverviewRow = Awaited<ReturnType<typeof listEnvironmentOverviews>>[number];

/** The bytes of an environment with three, twenty and five deployments, as sent, without their texts. */
const FIXED_BYTES = 5_500;

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

const CURRENT_ID = sql`(select id from (${newestWith(deploymentStatus.succeeded)}))`.as(
  "current_id",
);

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
  const position = POSITION.as("position");
  const ids = { activeId: ACTIVE_ID, lastId: LAST_ID, currentId: CURRENT_ID };
  const found = db
    .select({ id, createdAt, name, position, ...ids, url: URL, alarms: ALARMS, health: HEALTH })
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
  const size = sql`${sql.raw(String(FIXED_BYTES))} + octet_length(json_array(name, url, json(alarms)))
    + ${textBytes("active_id")} + ${textBytes("last_id")} + ${textBytes("current_id")} as size`;
  const item = sql`json_array(id, name, created_at, position, url, health, alarms,
    active_id, last_id, current_id) as id`;
  const field = (at: number) => sql`page.id ->> ${sql.raw(String(at))}`;
  return (
    db
      .select({
        id: sql<string>`${field(0)}`.as("overview_id"),
        name: sql<string>`${field(1)}`.as("overview_name"),
        createdAt: sql<number>`${field(2)}`.as("overview_created_at"),
        position: sql<number | null>`${field(3)}`.as("overview_position"),
        url: sql<string | null>`${field(4)}`.as("overview_url"),
        health: sql<"alarm" | "ok" | null>`${field(5)}`.as("overview_health"),
        alarms: sql<string>`${field(6)}`.as("overview_alarms"),
        active: summaryOf(field(7)).as("active_deployment"),
        last: summaryOf(field(8)).as("last_deployment"),
        current: summaryOf(field(9)).as("current_deployment"),
        queue: queueOf(field(0)).as("queue"),
        recent: recentOf(field(0)).as("recent_deployments"),
        ...PAGE_POSITION,
      })
      // Without its own limit, SQLite would measure each source twice.
      .from(limitPageBytes(page, sql`(select ${item}, ${size} from ${found} limit ${limit})`))
  );
}

/** The claims twice: the URL of a run has two of them. */
function textBytes(column: "active_id" | "last_id" | "current_id"): SQL {
  return sql`coalesce((select coalesce(octet_length(measured.source), 0)
      + octet_length(json_array(measured.reason)) + 2 * coalesce(octet_length(measured.claims), 0)
    from deployments as measured where measured.id = ${sql.raw(column)}), 0)`;
}
