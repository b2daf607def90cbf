import { and, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { firstOf, keyset, matchingOf, type PageRequest } from "../../../db/keyset.ts";
import { isOneOf, listOf } from "../../../db/list-of.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { unionBranches, unionOf } from "../../../db/union-branches.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import { hasUnpurged } from "../../housekeeping/purge/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { DEPLOYMENT_STATUSES, type DeploymentStatus } from "./lifecycle.ts";
import { PAGE_ITEM, selectPage } from "./store.ts";
import { deploymentStacks, deployments } from "./table.ts";

export interface DeploymentPage extends PageRequest {
  /** Empty: every status. */
  statuses: readonly DeploymentStatus[];
}

const next = alias(deployments, "next");

export function listOfOrganization(db: Database, organizationId: string, page: DeploymentPage) {
  const inOrganization = eq(deployments.organizationId, organizationId);
  const items = itemsOf(db, inOrganization, page, liveItem(organizationId));
  return selectPage(db, page, matchingOf(page, items, hasUnpurged(organizationId)));
}

/** Has the size 0 if its environment has been deleted. */
function liveItem(organizationId: string): typeof PAGE_ITEM {
  const isLive = sql`(not ${hasUnpurged(organizationId)}
    or ${hasLiveOwner(environments, deployments.environmentId)})`;
  return { ...PAGE_ITEM, size: sql<number>`iif(${isLive}, ${PAGE_ITEM.size.sql}, 0)`.as("size") };
}

export function listOfEnvironment(
  db: Database,
  organizationId: string,
  environmentId: string,
  page: DeploymentPage,
) {
  // Without the plus, SQLite takes the organization's index of a status.
  const inEnvironment = sql`+${deployments.organizationId} = ${organizationId}
    and ${deployments.environmentId} = ${environmentId}`;
  return listDeployments(db, inEnvironment, page);
}

export function listOfStack(
  db: Database,
  organizationId: string,
  stackId: string,
  page: DeploymentPage,
) {
  return selectedStatuses(page).length > 0
    ? listOfStackByStatus(db, organizationId, stackId, page)
    : listAllOfStack(db, organizationId, stackId, page);
}

function listAllOfStack(db: Database, organizationId: string, stackId: string, page: PageRequest) {
  const { deploymentCreatedAt, deploymentId } = deploymentStacks;
  const { where, orderBy, limit } = keyset(page, deploymentCreatedAt, deploymentId);
  const items = db
    .select(PAGE_ITEM)
    .from(deploymentStacks)
    .innerJoin(deployments, eq(deployments.id, deploymentId))
    .where(
      and(
        eq(deploymentStacks.organizationId, organizationId),
        eq(deploymentStacks.stackId, stackId),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return selectPage(db, page, items);
}

/**
 * Walks the index of the environment's statuses, because most deployments include all of its stacks.
 * Reads no deployment that is older than the stack's first; an ascending cursor is past those, and
 * a second lower bound would keep SQLite from using the cursor on the index.
 */
function listOfStackByStatus(
  db: Database,
  organizationId: string,
  stackId: string,
  page: DeploymentPage,
) {
  const isPastFirst = page.direction === "asc" && page.after !== undefined;
  const includesStack = and(
    sql`${deployments.environmentId} = (select of_stack.environment_id from stacks as of_stack
      where of_stack.id = ${stackId} and of_stack.organization_id = ${organizationId})`,
    sql`exists (select 1 from deployment_stacks as included
      where included.deployment_id = ${deployments.id} and included.stack_id = ${stackId})`,
    isPastFirst
      ? undefined
      : // Without `likely`, SQLite takes the bound for a narrow one and chooses an index without the status.
        sql`likely(${deployments.createdAt} >= (select min(oldest.deployment_created_at)
          from deployment_stacks as oldest where oldest.stack_id = ${stackId}))`,
  );
  return listDeployments(db, includesStack, page);
}

function selectedStatuses({ statuses }: DeploymentPage): readonly DeploymentStatus[] {
  return statuses.length === DEPLOYMENT_STATUSES.length ? [] : statuses;
}

function listDeployments(db: Database, condition: SQL | undefined, page: DeploymentPage) {
  return selectPage(db, page, firstOf(page, itemsOf(db, condition, page, PAGE_ITEM)));
}

/** One branch for each status: each walks an index, and reads no more rows than the page needs. */
function itemsOf(
  db: Database,
  condition: SQL | undefined,
  page: DeploymentPage,
  item: typeof PAGE_ITEM,
): SQL {
  const { where } = keyset(page, deployments.createdAt, deployments.id);
  const branches = unionBranches(deployments.status, selectedStatuses(page)).map((hasStatus) =>
    db
      .select(item)
      .from(deployments)
      .where(and(condition, hasStatus, where)),
  );
  return unionOf(branches);
}

/**
 * Of the projects of a member, or within the boundaries of a key. A page reads as many rows as it
 * returns and one more for each project or environment, however many deployments the others have.
 */
export function listOfProjects(db: Database, actor: Actor, page: DeploymentPage) {
  const { organizationId } = actor;
  const mayStop = hasUnpurged(organizationId);
  const most = sql`iif(${mayStop}, ${LIMITS.searchedRows.value}, ${page.limit + 1})`;
  const items = mergeGroups(groupsOf(actor), page, {
    most,
    size: liveItem(organizationId).size.sql,
  });
  return selectPage(db, page, matchingOf(page, items, mayStop));
}

interface Groups {
  /** Of `deployments`. */
  column: SQL;
  /** Selects the `id` of each group. */
  ids: SQL;
}

function groupsOf(actor: Actor): Groups {
  const { environmentIds } = actor;
  if (environmentIds === null) return { column: sql.raw("project_id"), ids: projectsOf(actor) };
  const ids = sql`select environments.id from environments
    where environments.id in ${listOf(environmentIds)}
      and environments.organization_id = ${actor.organizationId}
      and environments.project_id in (${projectsOf(actor)})`;
  return { column: sql.raw("environment_id"), ids };
}

/** Those that the actor is a member of, or, of an admin, all, within the boundaries of the key. */
function projectsOf({ organizationId, membershipId, role, projectIds }: Actor): SQL {
  const within = (id: SQL) => isOneOf(id, projectIds) ?? sql`true`;
  return orgRoleReaches(role, "admin")
    ? sql`select projects.id from projects
        where projects.organization_id = ${organizationId} and ${within(sql`projects.id`)}`
    : sql`select memberships.project_id as id from project_members as memberships
        where memberships.membership_id = ${membershipId}
          and memberships.organization_id = ${organizationId}
          and ${within(sql`memberships.project_id`)}`;
}

/**
 * A merge by a recursive query: its queue starts with the first deployment of each group, and each
 * row that leaves the queue adds the next one of its group. With statuses, of each group and status.
 */
function mergeGroups(
  { column, ids }: Groups,
  page: DeploymentPage,
  { most, size }: { most: SQL; size: SQL },
): SQL {
  const { where: afterCursor = sql`true` } = keyset(page, next.createdAt, next.id);
  const statuses = selectedStatuses(page);
  const isFiltered = statuses.length > 0;
  const order = sql.raw(page.direction);
  const beyond = sql.raw(page.direction === "asc" ? ">" : "<");
  const columns = sql`deployments.id, deployments.created_at, ${size}, deployments.${column}, deployments.status`;
  const nextOf = (group: SQL, status: SQL, condition: SQL) => sql`(
    select next.rowid from deployments as next
    where next.${column} = ${group}
      and ${isFiltered ? sql`next.status = ${status}` : sql`true`}
      and ${condition}
    order by next.created_at ${order}, next.id ${order} limit 1)`;
  const first = nextOf(sql`owner.id`, sql`wanted.value`, afterCursor);
  // The plus removes the column's affinity from the ID. Otherwise SQLite seeks by the time alone.
  const isBeyond = sql`(next.created_at, next.id) ${beyond} (merged.created_at, +merged.id)`;
  const following = nextOf(sql`merged.group_id`, sql`merged.status`, isBeyond);
  return sql`(
    with recursive merged (id, created_at, size, group_id, status) as (
      select ${columns} from (${ids}) as owner
        ${isFiltered ? sql`join json_each(${JSON.stringify(statuses)}) as wanted` : sql``}
        join deployments on deployments.rowid = ${first}
      union all
      select ${columns} from merged join deployments on deployments.rowid = ${following}
      order by 2 ${order}, 1 ${order} limit ${most})
    select id, created_at, size from merged)`;
}
