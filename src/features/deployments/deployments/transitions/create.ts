import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import { nextVersion } from "../../../../db/expected-version.ts";
import { insertFrom } from "../../../../db/insert-from.ts";
import { LIMITS } from "../../../../lib/limits.ts";
import type { DeploymentTrigger } from "../../../../lib/resource-types.ts";
import type { Bound } from "../../../housekeeping/usage/index.ts";
import { makersOf } from "../../../identity/credentials/index.ts";
import { STACK_ORDER, stacks } from "../../../tenancy/stack-table.ts";
import { isUnconditional } from "../../conditions/index.ts";
import { ACTIVE_OF_ENVIRONMENT } from "../model.ts";
import { ACTIVE_STATUSES, deploymentStacks, deploymentStatus, deployments } from "../table.ts";

export type NewDeployment = Pick<
  typeof deployments.$inferInsert,
  | "id"
  | "organizationId"
  | "projectId"
  | "environmentId"
  | "queue"
  | "patch"
  | "configuration"
  | "source"
  | "keepsSource"
  | "reason"
  | "isAbsolute"
  | "continueOnFailure"
> & {
  trigger: DeploymentTrigger;
  /** Who asks for it. */
  creator: { keyId: string; membershipId: string };
  /** What is promoted or redeployed. */
  copiedId?: string | undefined;
  configurationVersion: number;
  /** SHA-256 of the configuration. */
  configurationDigest: string;
  /** In this order. Undefined: all stacks of the environment. */
  stackIds: readonly string[] | undefined;
  now: number;
};

/** Inserts nothing if somebody has disconnected the project, without stacks, or unless it has these. */
export function insertDeployment(db: Database, deployment: NewDeployment) {
  const { now, stackIds, configurationVersion, creator, copiedId, ...fields } = deployment;
  const { organizationId, environmentId } = deployment;
  const redeployedId = fields.trigger === "redeployment" ? copiedId : undefined;
  const hasStacks = stackIds
    ? sql`(select count(*) from stacks where stacks.environment_id = ${environmentId}
        and stacks.organization_id = ${organizationId}
        and stacks.id in (select value from json_each(${JSON.stringify(stackIds)})))
        = ${stackIds.length} and ${stackIds.length} > 0`
    : sql`exists (select 1 from stacks where stacks.environment_id = ${environmentId}
        and stacks.organization_id = ${organizationId})`;
  return insertFrom(
    db,
    deployments,
    {
      ...fields,
      number: sql`(select coalesce(max(number), 0) + 1 from deployments
        where environment_id = ${environmentId})`,
      status: "queued",
      notifiedStatus: "queued",
      source: fields.source ?? null,
      keepsSource: fields.keepsSource ?? false,
      trigger: redeployedId === undefined ? fields.trigger : triggerOf(redeployedId),
      reason: fields.reason ?? null,
      failureReason: null,
      message: null,
      cancelDeadline: null,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      updatedAt: now,
      configurationVersion,
      isAbsolute: fields.isAbsolute ?? false,
      lapsedOffers: 0,
      releasedOffers: 0,
      version: 1,
      stackCount: stackIds?.length ?? countStacks(organizationId, environmentId),
      reasonBytes: 0,
      heldUntil: sql`iif(${isUnconditional(now)}, 0, null)`,
      evaluatedAt: null,
      awaitsApproval: sql`0`,
      keptRules: "[]",
      creators: makersOf(creator.keyId, creator.membershipId),
      exempt: redeployedId === undefined ? null : exemptionOf(redeployedId),
      overridden: null,
      claims: sql`(select key.claims from api_keys as key where key.id = ${creator.keyId})`,
      // A member who is being removed has no row.
      creatorType: sql`coalesce((select iif(key.trust_id is null, person.kind, 'ci') from memberships as person
        left join api_keys as key on key.id = ${creator.keyId} where person.id = ${creator.membershipId}), 'person')`,
      creatorMembershipId: creator.membershipId,
      creatorTrustId: sql`(select key.trust_id from api_keys as key where key.id = ${creator.keyId})`,
      copiedId: copiedId ?? null,
      startBasis: null,
      resulting: null,
      isDigestDue: sql`0`,
      continueOnFailure: fields.continueOnFailure ?? false,
    },
    sql`from projects
      join environments on environments.project_id = projects.id
        and environments.id = ${environmentId} and environments.organization_id = ${organizationId}
        and environments.organization_id = projects.organization_id
      where projects.id = ${fields.projectId} and ${isDeployable()}
        and ${hasStacks}`,
  );
}

/** Of a redeployment: a rollback repeats a success from before the newest deployment that has started. */
function triggerOf(id: string): SQL {
  return sql`iif(exists (select 1 from deployments as earlier where earlier.id = ${id}
    and earlier.status = 'succeeded' and earlier.number < environments.started_number), 'rollback', 'redeployment')`;
}

/** Whether it repeats what runs, or the last success before the newest deployment that has started. */
export function exemptionOf(id: string): SQL {
  return sql`case ${id}
    when (select same.id from deployments as same where same.environment_id = environments.id
      and same.number = environments.started_number and same.status = 'succeeded') then 'restart'
    when (select earlier.id from deployments as earlier where earlier.environment_id = environments.id
      and earlier.number < environments.started_number and earlier.status = 'succeeded'
      order by earlier.number desc limit 1) then 'rollback' end`;
}

/** Whether the project is connected, or nobody has ever disconnected it. */
export const isDeployable = () => sql`projects.disconnected_at is null`;

function countStacks(organizationId: string, environmentId: string): SQL {
  return sql`(select count(*) from ${stacks} where ${stacks.environmentId} = ${environmentId}
    and ${stacks.organizationId} = ${organizationId})`;
}

/** Only if the same batch has inserted the deployment. */
export function insertStacks(db: Database, deployment: NewDeployment) {
  const { id, stackIds, organizationId, environmentId, now } = deployment;
  const included = stackIds
    ? sql`json_each(${JSON.stringify(stackIds)}) as item
        join ${stacks} on stacks.id = item.value and stacks.environment_id = ${environmentId}
          and stacks.organization_id = ${organizationId}`
    : sql`(select id as value, row_number() over (order by ${STACK_ORDER}) - 1 as key
        from stacks where environment_id = ${environmentId}
          and organization_id = ${organizationId}) as item`;
  return insertFrom(
    db,
    deploymentStacks,
    {
      deploymentId: id,
      stackId: sql`item.value`,
      organizationId,
      environmentId,
      position: sql`item.key`,
      status: "pending",
      statusReason: null,
      seq: 0,
      timestamp: now,
      deploymentCreatedAt: now,
      startedAt: null,
    },
    sql`from ${included} where exists (select 1 from deployments where id = ${id})`,
  );
}

export function supersedeOlder(db: Database, id: string, environmentId: string, now: number) {
  return db
    .update(deployments)
    .set({
      status: "superseded",
      finishedAt: now,
      updatedAt: now,
      version: nextVersion(deployments.version),
    })
    .where(
      and(
        eq(deployments.environmentId, environmentId),
        sql`${deployments.status} = ${deploymentStatus.queued}`,
        sql`${deployments.number} < (select newer.number from deployments as newer
          where newer.id = ${id} and newer.queue = 'supersede')`,
      ),
    );
}

export function activeDeploymentsBound(environmentId: string): Bound {
  const count = sql`(select count(*) from ${deployments} as active
    where active.environment_id = ${environmentId} and active.status in ${ACTIVE_STATUSES})`;
  return {
    what: ACTIVE_OF_ENVIRONMENT,
    limit: LIMITS.unfinishedDeployments.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Each creation displaces one configuration; the others are a backlog. */
const MAXIMUM_CLEARED = 20;

export function clearOldConfigurations(db: Database, environmentId: string) {
  return db
    .update(deployments)
    .set({ configuration: "" })
    .where(sql`${deployments.id} in ${displacedIds(environmentId)}`);
}

function displacedIds(environmentId: string): SQL {
  return sql`(select older.id from ${deployments} as older
    where older.environment_id = ${environmentId} and older.configuration <> ''
      and older.status not in ${ACTIVE_STATUSES}
      and older.number <= (select max(newest.number) from ${deployments} as newest
        where newest.environment_id = ${environmentId}) - ${LIMITS.redeployableDeployments.value}
    order by older.number limit ${MAXIMUM_CLEARED})`;
}
