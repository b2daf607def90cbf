import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset } from "../../db/keyset.ts";
import { type DeploymentPage, RECORD, selectPage, statusesOf } from "./store.ts";
import { deployments } from "./table.ts";

const next = alias(deployments, "next");

/**
 * The deployments of the projects that the actor has a role in, whose orders are merged: so a page
 * reads as many rows as it returns and one for each project, whatever the others have deployed.
 */
export function listOfMember(db: Database, actor: Actor, page: DeploymentPage) {
  const { orderBy, limit } = keyset(page, deployments.createdAt, deployments.id);
  const records = db
    .select(RECORD)
    .from(deployments)
    .where(sql`${deployments}.rowid in (${mergeProjects(actor, page)})`)
    .orderBy(...orderBy)
    .limit(limit);
  return selectPage(db, page, records);
}

/**
 * The queue of the recursion begins with the first deployment of each project, and whichever leaves
 * it is followed by the next of its project. With statuses, it is each project's with each status.
 */
function mergeProjects(actor: Actor, page: DeploymentPage): SQL {
  const { where: afterCursor = sql`true`, limit } = keyset(page, next.createdAt, next.id);
  const statuses = statusesOf(page);
  const some = statuses.length > 0;
  const order = sql.raw(page.direction);
  const beyond = sql.raw(page.direction === "asc" ? ">" : "<");
  const found = sql`found.rowid, found.project_id, found.status, found.created_at, found.id`;
  const nextOf = (project: SQL, status: SQL, condition: SQL) => sql`(
    select next.rowid from deployments as next
    where next.project_id = ${project} and ${some ? sql`next.status = ${status}` : sql`true`}
      and ${condition}
    order by next.created_at ${order}, next.id ${order} limit 1)`;
  const first = nextOf(sql`own.project_id`, sql`wanted.value`, afterCursor);
  // The plus takes the column's type from the ID: else SQLite would seek by the time alone.
  const further = sql`(next.created_at, next.id) ${beyond} (merged.created_at, +merged.id)`;
  const following = nextOf(sql`merged.project_id`, sql`merged.status`, further);
  return sql`
    with recursive merged (place, project_id, status, created_at, id) as (
      select ${found} from project_members as own
        ${some ? sql`join json_each(${JSON.stringify(statuses)}) as wanted` : sql``}
        join deployments as found on found.rowid = ${first}
      where own.membership_id = ${actor.membershipId}
        and own.organization_id = ${actor.organizationId}
      union all
      select ${found} from merged join deployments as found on found.rowid = ${following}
      order by 4 ${order}, 5 ${order} limit ${limit})
    select place from merged`;
}
