import { and, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../context.ts";
import { armsOf } from "../../db/arms.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { projectMembers } from "../../db/schema.ts";
import { isRoleOf, MEMBER_ROLE } from "../projects/index.ts";
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

/** The deployments of the projects that the actor has a role in. */
export function listOfMember(db: Database, actor: Actor, page: DeploymentPage) {
  const own = sql`exists (select 1 from project_members as own
    where own.project_id = ${deployments.projectId} and own.membership_id = ${actor.membershipId})`;
  return listDeployments(db, and(eq(deployments.organizationId, actor.organizationId), own), page);
}

/** The deployments that a stack was part of, by the index of their own times. */
export function listOfStack(
  db: Database,
  organizationId: string,
  stackId: string,
  page: DeploymentPage,
) {
  const { deploymentCreatedAt, deploymentId } = deploymentStacks;
  const { where, orderBy, limit } = keyset(page, deploymentCreatedAt, deploymentId);
  return db
    .select(DEPLOYMENT)
    .from(deploymentStacks)
    .innerJoin(deployments, eq(deployments.id, deploymentId))
    .where(
      and(
        eq(deploymentStacks.organizationId, organizationId),
        eq(deploymentStacks.stackId, stackId),
        page.statuses.length > 0 ? inArray(deployments.status, [...page.statuses]) : undefined,
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

/** A page of deployments, of whichever statuses are asked for. */
function listDeployments(db: Database, scope: SQL | undefined, page: DeploymentPage) {
  const { where, orderBy, limit } = keyset(page, deployments.createdAt, deployments.id);
  const arm = (ofStatus: SQL | undefined) =>
    db
      .select(DEPLOYMENT)
      .from(deployments)
      .where(and(scope, ofStatus, where));
  const [one, ...others] = armsOf(deployments.status, page.statuses, DEPLOYMENT_STATUSES);
  const [second, ...rest] = others.map(arm);
  const arms = second ? unionAll(arm(one), second, ...rest) : arm(one);
  return arms.orderBy(...orderBy).limit(limit);
}
