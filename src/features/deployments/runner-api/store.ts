import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Runner } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, limitPageBytes, PAGE_POSITION, type PageRequest } from "../../../db/keyset.ts";
import { HAS_LIVE_COMPONENT, hasLiveOwner } from "../../../db/tombstone.ts";
import { hasUnpurged } from "../../housekeeping/purge/index.ts";
import type { StorageMethod } from "../../projects/variables/index.ts";
import { variables } from "../../projects/variables/table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { FACTS } from "../conditions/index.ts";
import {
  type AttemptKey,
  CHECKED_OF_ATTEMPT,
  countLive,
  DEPLOYMENT,
  DEPLOYMENT_PAGE_ITEM,
  type DeploymentStatus,
  deploymentIdOf,
  isAttempt,
  LEASE_TTL_MS,
  LOST_AFTER_MS,
  type ReportedResource,
  whereLeaseIsValid,
} from "../deployments/index.ts";
import {
  attemptState,
  attempts,
  deploymentStacks,
  deploymentStatus,
  deployments,
  isLiveAttempt,
} from "../deployments/table.ts";
import { runnerPoolEnvironments } from "../runner-pools/table.ts";
import type { Directive } from "./directive.ts";
import type { InputRow } from "./input-store.ts";

export interface DeliveredVariable {
  name: string;
  storageMethod: StorageMethod;
  resourceId: string;
  environmentId: string;
  componentId: string | null;
  value: string;
}

export interface Delivery {
  variables: readonly DeliveredVariable[];
  stacks: readonly { stackId: string; componentId: string | null }[];
}

export interface StartedDeployment {
  row: StartRow;
  input: InputRow;
  directive: Directive;
}

export interface ReportedProgress {
  directive: Directive;
  /** What the report had that was not stored. */
  warnings: string[];
}

export type AttemptRow = Awaited<ReturnType<typeof findAttempt>>[number];
export type ClaimRow = Awaited<ReturnType<typeof findClaim>>[number];
export type StartRow = Awaited<ReturnType<typeof findStart>>[number];

const DEPLOYMENT_STATUS = sql<DeploymentStatus>`${deployments.status}`.as("deployment_status");

/** Aliases keep apart columns with the same name. */
const LEASED_DEPLOYMENT = {
  ...DEPLOYMENT,
  attemptId: sql<string>`${attempts.id}`.as("attempt_id"),
  epoch: attempts.epoch,
  state: attempts.state,
  offeredUntil: attempts.offeredUntil,
  leaseUntil: attempts.leaseUntil,
  lostAt: attempts.lostAt,
  runUntil: attempts.runUntil,
  deploymentStatus: DEPLOYMENT_STATUS,
};

const CLAIM = {
  ...LEASED_DEPLOYMENT,
  attemptCreatedAt: sql<number>`${attempts.createdAt}`.as("attempt_created_at"),
  variableNames: sql<string>`(select json_group_array(item.name) from (
    select distinct name from variables where variables.environment_id = deployments.environment_id
      and ${HAS_LIVE_COMPONENT}
    order by name) as item)`.as("variable_names"),
};

const IS_LIVE = hasLiveOwner(environments, attempts.environmentId);

export function findAttempt(db: Database, attempt: AttemptKey) {
  const { checked: _, ...columns } = getTableColumns(attempts);
  return db
    .select({
      ...columns,
      projectId: deployments.projectId,
      deploymentStatus: DEPLOYMENT_STATUS,
      failureReason: deployments.failureReason,
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(and(isAttempt(attempt), IS_LIVE));
}

export function findClaim(db: Database, poolId: string, requestId: string) {
  return db
    .select(CLAIM)
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(and(eq(attempts.poolId, poolId), eq(attempts.requestId, requestId), IS_LIVE));
}

/** A deployment that the pool may claim now or later, or could have claimed. */
export function findWanted(db: Database, poolId: string, deploymentId: string) {
  return db
    .select({ status: deployments.status })
    .from(deployments)
    .innerJoin(
      runnerPoolEnvironments,
      and(
        eq(runnerPoolEnvironments.environmentId, deployments.environmentId),
        eq(runnerPoolEnvironments.poolId, poolId),
      ),
    )
    .where(
      and(eq(deployments.id, deploymentId), hasLiveOwner(environments, deployments.environmentId)),
    );
}

export function listClaims(
  db: Database,
  { organizationId, poolId, keyId }: Runner,
  page: PageRequest,
  now: number,
) {
  const { where, orderBy, limit } = keyset(page, attempts.createdAt, attempts.id);
  const items = db
    .select({
      ...DEPLOYMENT_PAGE_ITEM,
      id: sql`${attempts.id}`.as("id"),
      createdAt: sql`${attempts.createdAt}`.as("created_at"),
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(
      and(
        eq(attempts.tokenId, keyId),
        eq(attempts.poolId, poolId),
        sql`(not ${hasUnpurged(organizationId)} or ${IS_LIVE})`,
        sql`${attempts.state} <> ${attemptState.ended}`,
        isLiveAttempt(now),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...CLAIM, ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(attempts, sql`${attempts.id} = page.id`)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId));
}

/**
 * Includes both configurations, for a rebase, if the environment's has another version than the one
 * that the deployment is based on.
 */
export function findStart(db: Database, attempt: AttemptKey) {
  const ifOutdated = (column: string) =>
    sql`case when deployments.status = ${deploymentStatus.queued}
      and environments.configuration_version <> deployments.configuration_version
      then ${sql.raw(column)} end`;
  return db
    .select({
      ...LEASED_DEPLOYMENT,
      outcome: attempts.outcome,
      facts: FACTS.as("facts"),
      currentVersion: sql<number>`${environments.configurationVersion}`.as("current_version"),
      currentConfiguration: sql<string | null>`${ifOutdated("environments.configuration")}`.as(
        "current_configuration",
      ),
      ownConfiguration: sql<string | null>`${ifOutdated("deployments.configuration")}`.as(
        "own_configuration",
      ),
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .innerJoin(environments, eq(environments.id, attempts.environmentId))
    .where(and(isAttempt(attempt), IS_LIVE));
}

/** A stale lease too, but not one that is lost. */
export function renewLease(db: Database, attempt: AttemptKey, now: number) {
  return db
    .update(attempts)
    .set({ leaseUntil: now + LEASE_TTL_MS, lostAt: now + LOST_AFTER_MS })
    .where(and(isAttempt(attempt), whereLeaseIsValid(attempt, now)));
}

/** @param changed What a report has as changed resources. */
export function findReportedStack(
  db: Database,
  attempt: AttemptKey,
  stackId: string,
  changed: readonly ReportedResource[] | undefined,
) {
  return db
    .select({
      seq: deploymentStacks.seq,
      outputs: sql<string | null>`(select stacks.outputs from stacks
        where stacks.id = ${deploymentStacks.stackId})`.as("outputs"),
      liveResources: (changed ? countLive(stackId, changed) : sql<number>`0`).as("live_resources"),
    })
    .from(deploymentStacks)
    .where(
      and(
        sql`${deploymentStacks.deploymentId} = ${deploymentIdOf(attempt)}`,
        eq(deploymentStacks.stackId, stackId),
      ),
    );
}

export function listSealedVariables(db: Database, attempt: AttemptKey, condition: SQL) {
  return db
    .select()
    .from(variables)
    .where(
      and(
        sql`${variables.environmentId} = (select attempts.environment_id from attempts
          where attempts.id = ${attempt.id})`,
        HAS_LIVE_COMPONENT,
        condition,
      ),
    )
    .orderBy(variables.createdAt, variables.id);
}

/** In the order of the deployment, as the start has checked them. */
export function listComponentsOfStacks(db: Database, attempt: AttemptKey, condition: SQL) {
  return db
    .select({
      stackId: sql<string>`part.value ->> 0`.as("stack_id"),
      componentId: sql<string | null>`part.value ->> 2`.as("component_id"),
    })
    .from(attempts)
    .innerJoin(sql`json_each(${CHECKED_OF_ATTEMPT}, '$.stacks') as part`, sql`true`)
    .where(and(isAttempt(attempt), condition))
    .orderBy(sql`part.key`);
}

/** A runner that was silent for too long has to send a heartbeat first. */
export function whereLeaseIsFresh({ id, poolId }: AttemptKey, now: number): SQL {
  return sql`exists (select 1 from attempts as leased
    where leased.id = ${id} and leased.pool_id = ${poolId}
      and leased.state = ${attemptState.running} and leased.lease_until > ${now})`;
}
