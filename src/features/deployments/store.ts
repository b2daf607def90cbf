import { and, eq, getTableColumns, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import {
  CUMULATIVE_BYTES,
  keyset,
  limitPageBytes,
  type PageRequest,
  pageOrder,
  sizeOf,
} from "../../db/keyset.ts";
import { unionBranches } from "../../db/union-branches.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../project-members/table.ts";
import { DEPLOYMENT_STATUSES, type DeploymentStatus, type StackStatus } from "./lifecycle.ts";
import { deploymentStacks, deployments } from "./table.ts";

export type DeploymentRow = Awaited<ReturnType<typeof findDeployment>>[number];
export type ListedRow = Omit<DeploymentRow, "memberRole">;

export interface DeploymentPage extends PageRequest {
  /** None: of every status. */
  statuses: readonly DeploymentStatus[];
}

/** A stack of a deployment, as the column `stacks` holds it. */
export interface StackOfDeployment {
  id: string;
  status: StackStatus;
  statusReason: string | null;
  timestamp: number;
}

const { configuration: _, ...COLUMNS } = getTableColumns(deployments);

/** A deployment with its stacks, as JSON in their order, and without the configuration. */
export const DEPLOYMENT = {
  ...COLUMNS,
  stacks: sql<string>`(select json_group_array(json_object('id', item.stack_id,
      'status', item.status, 'statusReason', item.status_reason, 'timestamp', item.timestamp))
    from (select * from deployment_stacks where deployment_id = deployments.id
      order by position) as item)`.as("stacks"),
};

const { id, createdAt, patch, source } = deployments;

/** What a page is cut by: `size` is without the stacks, which are read once for both. */
export const RECORD = {
  id: sql<string>`${id}`.as("id"),
  createdAt: sql<number>`${createdAt}`.as("created_at"),
  stacks: DEPLOYMENT.stacks,
  size: sql<number>`${sizeOf({ json: [patch, source], rest: 400 }).sql}`.as("size_without_stacks"),
};

/** A stack is a quarter larger as sent than in the column: its ID is in `stack_ids`, too. */
const WITH_STACKS = sql.raw("size_without_stacks + octet_length(stacks) * 5 / 4 as size");

/** The table `page` of `limitPageBytes`, with `stacks`, for records with the fields of `RECORD`. */
export function cutDeployments(page: PageRequest, records: SQLWrapper): SQL {
  return limitPageBytes(page, sql`(select *, ${WITH_STACKS} from ${records})`);
}

/** The stacks of a deployment that was joined with the table of `cutDeployments`. */
export const STACKS_OF_PAGE = sql<string>`page.stacks`.as("stacks");

/** The deployments of a page, of which `records` are those that it may hold. */
export function selectPage(db: Database, page: PageRequest, records: SQLWrapper) {
  return db
    .select({ ...COLUMNS, stacks: STACKS_OF_PAGE, ...CUMULATIVE_BYTES })
    .from(cutDeployments(page, records))
    .innerJoin(deployments, sql`${id} = page.id`)
    .orderBy(pageOrder(page));
}

/** A deployment of the actor's organization, with the actor's role in its project. */
export function findDeployment(db: Database, actor: Actor, id: string, environmentId?: string) {
  return db
    .select({ ...DEPLOYMENT, memberRole: MEMBER_ROLE })
    .from(deployments)
    .leftJoin(projectMembers, isRoleOf(actor, deployments.projectId))
    .where(
      and(
        eq(deployments.organizationId, actor.organizationId),
        eq(deployments.id, id),
        environmentId === undefined ? undefined : eq(deployments.environmentId, environmentId),
      ),
    );
}

export function listOfEnvironment(
  db: Database,
  organizationId: string,
  environmentId: string,
  page: DeploymentPage,
) {
  const scope = eq(deployments.environmentId, environmentId);
  return listDeployments(db, and(eq(deployments.organizationId, organizationId), scope), page);
}

export function listOfOrganization(db: Database, organizationId: string, page: DeploymentPage) {
  return listDeployments(db, eq(deployments.organizationId, organizationId), page);
}

/** The deployments that a stack was part of, by the index of their own times. */
export function listOfStack(
  db: Database,
  organizationId: string,
  stackId: string,
  page: PageRequest,
) {
  const { deploymentCreatedAt, deploymentId } = deploymentStacks;
  const { where, orderBy, limit } = keyset(page, deploymentCreatedAt, deploymentId);
  const records = db
    .select(RECORD)
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
  return selectPage(db, page, records);
}

/**
 * Those with some statuses, by the index of the environment: most deployments are of all its stacks.
 * None that is older than the first of the stack's own is read; a cursor of ascending order is past
 * them, and would be no bound to the index beside another.
 */
export function listOfStackByStatus(
  db: Database,
  organizationId: string,
  stackId: string,
  page: DeploymentPage,
) {
  const isPast = page.direction === "asc" && page.after !== undefined;
  const scope = and(
    sql`${deployments.environmentId} = (select of_stack.environment_id from stacks as of_stack
      where of_stack.id = ${stackId} and of_stack.organization_id = ${organizationId})`,
    sql`exists (select 1 from deployment_stacks as part
      where part.deployment_id = ${deployments.id} and part.stack_id = ${stackId})`,
    isPast
      ? undefined
      : // Else SQLite would take the bound for a narrow one, and an index without the status.
        sql`likely(${deployments.createdAt} >= (select min(oldest.deployment_created_at)
          from deployment_stacks as oldest where oldest.stack_id = ${stackId}))`,
  );
  return listDeployments(db, scope, page);
}

/** A deployment's status before and after the cancel that the batch has just made, as JSON. */
export function statusesOfCancel(id: string) {
  const status = sql`(select canceled.status from deployments as canceled where canceled.id = ${id})`;
  return {
    before: sql`json_object('status', case ${status} when 'canceled' then 'queued'
      else 'in_progress' end)`,
    after: sql`json_object('status', ${status})`,
  };
}

/** The statuses that a page asks for; none if it asks for every one. */
export function statusesOf({ statuses }: DeploymentPage): readonly DeploymentStatus[] {
  return statuses.length === DEPLOYMENT_STATUSES.length ? [] : statuses;
}

/** D1 refuses a compound of more selects than that. */
const MAXIMUM_ARMS = 5;

/**
 * A page of deployments. For several statuses, one ordered arm each, which SQLite merges as it
 * reads: so every arm walks an index, and reads no more than the page needs.
 */
function listDeployments(db: Database, scope: SQL | undefined, page: DeploymentPage) {
  const { where, orderBy, limit } = keyset(page, deployments.createdAt, deployments.id);
  const arm = (ofStatus: SQL | undefined) =>
    db
      .select(RECORD)
      .from(deployments)
      .where(and(scope, ofStatus, where));
  const [one, ...more] = unionBranches(deployments.status, statusesOf(page));
  const first = arm(one);
  const [second, ...rest] = more.map(arm);
  if (!second) return selectPage(db, page, first.orderBy(...orderBy).limit(limit));
  const [another, ...others] = rest.splice(MAXIMUM_ARMS - 2);
  const arms = unionAll(first, second, ...rest);
  if (!another) return selectPage(db, page, arms.orderBy(...orderBy).limit(limit));
  // A compound within a compound counts as one select, and is merged like the rest.
  const nested = db.select().from(arms.as("arms"));
  const all = unionAll(nested, another, ...others);
  return selectPage(db, page, all.orderBy(...orderBy).limit(limit));
}
