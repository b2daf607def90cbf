import { and, eq, getTableColumns, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { limitPageBytes, PAGE_POSITION, type PageRequest, sizeOf } from "../../../db/keyset.ts";
import { HAS_LIVE_COMPONENT, hasLiveOwner } from "../../../db/tombstone.ts";
import { DAY_MS } from "../../../lib/clock.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { variables } from "../../projects/variables/table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { STACK_ORDER, stacks } from "../../tenancy/stack-table.ts";
import type { Facts } from "../conditions/index.ts";
import { CREATOR, EXECUTOR } from "./creator-store.ts";
import type { StackStatus } from "./lifecycle.ts";
import { ACTIVE_STATUSES, deploymentStacks, deploymentStatus, deployments } from "./table.ts";
import { waitingFor } from "./waiting-store.ts";

export type FoundDeployment = Awaited<ReturnType<typeof findDeployment>>[number];
export type DeploymentRow = Omit<FoundDeployment, "memberRole" | Optional> &
  Partial<Pick<FoundDeployment, Optional>> & {
    /** The facts, and the digests that `waitingFor` lacks. */
    completedFacts?: Facts | undefined;
  };

/** What not every select has. */
type Optional = "waitingFor" | "creator" | "executor";

export interface StackOfDeployment {
  id: string;
  status: StackStatus;
  statusReason: string | null;
  /** Null before the first report. */
  startedAt: number | null;
  timestamp: number;
}

const {
  configuration: _,
  stackCount: __,
  reasonBytes: ___,
  keepsSource: ____,
  keptRules: _____,
  creators: ______,
  claims: _________,
  heldUntil: _______,
  evaluatedAt: ________,
  creatorType: __________,
  creatorMembershipId: ___________,
  creatorTrustId: ____________,
  awaitsApproval: _____________,
  configurationDigest: ______________,
  startBasis: _______________,
  resulting: ________________,
  isDigestDue: _________________,
  ...COLUMNS
} = getTableColumns(deployments);

export const DEPLOYMENT = {
  ...COLUMNS,
  stacks: sql<string>`(select json_group_array(json_object('id', item.stack_id,
      'status', item.status, 'statusReason', item.status_reason, 'startedAt', item.started_at, 'timestamp', item.timestamp))
    from (select * from deployment_stacks where deployment_id = deployments.id
      order by position) as item)`.as("stacks"),
};

/** Of one deployment. */
const SHOWN = { ...DEPLOYMENT, creator: CREATOR, executor: EXECUTOR };

const { id, createdAt, patch, source, failureReason, message, stackCount, reasonBytes } =
  deployments;

const within = (organizationId: string, deploymentId: string) =>
  and(eq(deployments.organizationId, organizationId), eq(id, deploymentId));

/** Of a stack as sent, with both of its IDs and without its reason. */
const STACK_BYTES = sql.raw("120");

/** For `limitPageBytes`. It reads no stacks: those of a page that is cut can be many times those on it. */
export const PAGE_ITEM = {
  id: sql<string>`${id}`.as("id"),
  createdAt: sql<number>`${createdAt}`.as("created_at"),
  size: sql<number>`${sizeOf({ json: [patch, source], text: [failureReason, message, deployments.reason, deployments.claims], rest: 900 }).sql}
    + ${stackCount} * ${STACK_BYTES} + ${reasonBytes}`.as("size"),
};

export function selectPage(db: Database, page: PageRequest, items: SQLWrapper) {
  return db
    .select({ ...DEPLOYMENT, creator: CREATOR, ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(deployments, sql`${id} = page.id`);
}

export function findDeployment(
  { db, actor, clock }: Pick<ServiceContext, "db" | "actor" | "clock">,
  id: string,
  environmentId?: string,
) {
  return db
    .select({ ...SHOWN, waitingFor: waitingFor(clock.now()), memberRole: MEMBER_ROLE })
    .from(deployments)
    .leftJoin(projectMembers, isRoleOf(actor, deployments.projectId))
    .where(
      and(
        eq(deployments.organizationId, actor.organizationId),
        eq(deployments.id, id),
        hasLiveOwner(environments, deployments.environmentId),
        environmentId === undefined ? undefined : eq(deployments.environmentId, environmentId),
      ),
    );
}

/** The fields of `selectDeployment` that are JSON texts. */
export const JSON_TEXTS = ["patch", "source", "stacks", "creator", "executor", "waitingFor"];

export function selectDeployment(db: Database, organizationId: string, id: string, now: number) {
  return db
    .select({ ...SHOWN, waitingFor: waitingFor(now) })
    .from(deployments)
    .where(within(organizationId, id));
}

/** For the statements of a batch after those that may have created the deployment. */
export function whereDeploymentExists(organizationId: string, id: string): SQL {
  return sql`exists (select 1 from deployments where ${within(organizationId, id)})`;
}

/** Whether the deployment is what a request to cancel it asks for. */
export function whereCanceled(organizationId: string, id: string): SQL {
  return sql`exists (select 1 from deployments where ${within(organizationId, id)}
    and deployments.status in (${deploymentStatus.canceling}, ${deploymentStatus.canceled}))`;
}

export type DeploymentContent = Awaited<ReturnType<typeof findContent>>[number];

export function findContent(db: Database, organizationId: string, id: string) {
  return db
    .select({
      configuration: deployments.configuration,
      source: deployments.source,
      continueOnFailure: deployments.continueOnFailure,
    })
    .from(deployments)
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id)));
}

export function sourceOf(organizationId: string, id: string): SQL {
  return sql`(select ${source} from ${deployments} where ${within(organizationId, id)})`;
}

export function environmentIdOf(id: string): SQL {
  return sql`(select environment_id from deployments where id = ${id})`;
}

/**
 * The names of those of the environment that have changed since the creation of a deployment. The changelog has the
 * deleted ones, of which its newest entries are read. IDs sort by the time of their creation.
 */
export function listChangedVariables(db: Database, organizationId: string, id: string) {
  const isIt = within(organizationId, id);
  const changed = sql`(
    select variables.name from deployments join variables using (environment_id)
    where ${isIt} and variables.updated_at > deployments.created_at and ${HAS_LIVE_COMPONENT}
    union
    select fields ->> 'name' from (select environment_id, iif(record_type = 'variable'
        and action = 'deleted' and record_id < deployments.id, before, null) as fields
      from deployments join changelog_entries as entry using (project_id)
      where ${isIt} and entry.created_at > deployments.created_at
      order by entry.created_at desc limit ${LIMITS.variablesOfEnvironment.value}) as record
    where fields ->> 'environment_id' = environment_id) as list`;
  return db.select({ name: sql<string>`name` }).from(changed).orderBy(sql`name`);
}

/** In the order of the deployment. */
export function listExistingStacks(db: Database, organizationId: string, id: string) {
  return db
    .select({ id: stacks.id })
    .from(deploymentStacks)
    .innerJoin(
      stacks,
      and(
        eq(stacks.id, deploymentStacks.stackId),
        eq(stacks.organizationId, deploymentStacks.organizationId),
      ),
    )
    .where(
      and(
        eq(deploymentStacks.organizationId, organizationId),
        eq(deploymentStacks.deploymentId, id),
      ),
    )
    .orderBy(deploymentStacks.position);
}

/** The stacks in the environment's own order, which their needs may change. */
export function listStacksOfEnvironment(
  db: Database,
  organizationId: string,
  environmentId: string,
) {
  return db
    .select({ id: stacks.id, name: stacks.name, succeededAt: stacks.succeededAt })
    .from(stacks)
    .where(and(eq(stacks.organizationId, organizationId), eq(stacks.environmentId, environmentId)))
    .orderBy(STACK_ORDER);
}

/** All of an environment, for a preview. Their outputs have a limit together. */
export function listReferencedStacks(
  db: Database,
  organizationId: string,
  environmentId: EnvironmentId,
) {
  const { id: stackId, name, componentId, outputs, succeededAt } = stacks;
  return db
    .select({ id: stackId, name, componentId, outputs, succeededAt })
    .from(stacks)
    .where(and(eq(stacks.organizationId, organizationId), eq(stacks.environmentId, environmentId)))
    .orderBy(STACK_ORDER);
}

export function listVariableNames(
  db: Database,
  organizationId: string,
  environmentId: EnvironmentId,
) {
  return db
    .select({ name: variables.name, componentId: variables.componentId })
    .from(variables)
    .where(
      and(
        eq(variables.organizationId, organizationId),
        eq(variables.environmentId, environmentId),
        HAS_LIVE_COMPONENT,
      ),
    );
}

/** Or a select of it. */
export type EnvironmentId = string | SQL;

/** Those that have not ended, the oldest first. */
export function listActive(db: Database, organizationId: string, environmentId: EnvironmentId) {
  return db
    .select({ id: deployments.id, status: deployments.status })
    .from(deployments)
    .where(
      and(
        eq(deployments.organizationId, organizationId),
        eq(deployments.environmentId, environmentId),
        sql`${deployments.status} in ${ACTIVE_STATUSES}`,
      ),
    )
    .orderBy(createdAt, id);
}

export interface ConnectionState {
  disconnectedAt: number | null;
  /** The name of the person or service account. Null: it is no longer a member. */
  disconnectedBy: string | null;
}

const CONNECTION_STATE = {
  disconnectedAt: projects.disconnectedAt,
  disconnectedBy: sql<string | null>`(select accounts.display_name from memberships
    join accounts on accounts.id = memberships.account_id
    where memberships.id = ${projects.disconnectedBy})`.as("disconnected_by"),
};

export function findConnectionState(
  db: Database,
  organizationId: string,
  environmentId: EnvironmentId,
) {
  return db
    .select(CONNECTION_STATE)
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(
      and(eq(environments.organizationId, organizationId), eq(environments.id, environmentId)),
    );
}

/** Whether a deployment may have a log, which deletes itself after a while. A day is more than enough. */
export function hasLog(now: number): SQL {
  const oldest = now - LIMITS.logRetentionMs.value - DAY_MS;
  return sql`${deployments.startedAt} is not null
    and (${deployments.finishedAt} is null or ${deployments.finishedAt} > ${oldest})`;
}

/** Those beyond the newest of their environment. */
export const IS_HISTORY = sql`deployments.configuration = ''`;

/** Its stacks, digests and attempts: those that have lapsed or were released, the last that was refused, and the last. */
export const CHILDREN = sql`deployments.stack_count + deployments.lapsed_offers + deployments.released_offers + 3
  + (select count(*) from configuration_digests as digested where digested.deployment_id = deployments.id)
  + (select count(*) from deployment_approvals as approval where approval.deployment_id = deployments.id)`;

/** Whether its environment has had a newer one with the same status: the newest are its current state. */
export const IS_OUTDATED = sql`exists (select 1 from deployments as newer
  where newer.environment_id = deployments.environment_id and newer.status = deployments.status
    and newer.created_at > deployments.created_at)`;

const OWNERS = new Map<SQLiteTable, string>([
  [organizations, "organization_id"],
  [projects, "project_id"],
  [environments, "environment_id"],
]);

/** Whether an owner has no unfinished deployment. */
export function isIdle(owner: SQLiteTable, id: string): SQL | undefined {
  if (owner === stacks) {
    return sql`not exists (select 1 from deployment_stacks
    join deployments on deployments.id = deployment_stacks.deployment_id
    where deployment_stacks.stack_id = ${id} and deployments.status in ${ACTIVE_STATUSES})`;
  }
  const column = OWNERS.get(owner);
  if (column === undefined) return undefined;
  return sql`not exists (select 1 from deployments as active
    where active.${sql.raw(column)} = ${id} and active.status in ${ACTIVE_STATUSES})`;
}

/** Organizations with deployments that may have to end, or whose end has had no consequences yet. In a random order. */
export async function listUnfinishedOrganizations(db: Database): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`select id from (
      select organization_id as id from attempts where state <> 'ended'
      union select organization_id from deployments where status <> announced
      union select organization_id from projects where connection_status = 'disconnecting')
    order by random()`);
  return rows.map(({ id }) => id);
}
