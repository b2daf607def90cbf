import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import {
  DEPLOYMENT,
  type DeploymentStatus,
  FAILURES,
  LEASE_MS,
  STALE_MS,
} from "../deployments/index.ts";
import { attempts, deploymentStacks, deployments } from "../deployments/table.ts";
import { environments } from "../environments/table.ts";
import type { Directive } from "./directive.ts";

/** A deployment as its runner executes it. */
export interface Started {
  row: StartRow;
  desired: Directive;
}

export type StartRow = Awaited<ReturnType<typeof findStart>>[number];
export type LeaseRow = Awaited<ReturnType<typeof findLease>>[number];

/** The attempt that a call is about, of the pool that makes it. */
export interface Reference {
  id: string;
  poolId: string;
}

export const within = ({ id, poolId }: Reference) =>
  and(eq(attempts.id, id), eq(attempts.poolId, poolId));

/** The deployment of an attempt. */
export const deploymentOf = ({ id, poolId }: Reference) =>
  sql`(select mine.deployment_id from attempts as mine
    where mine.id = ${id} and mine.pool_id = ${poolId})`;

/**
 * The fence: whether the runner still holds the attempt. It stands inside each statement that
 * writes, so that a runner which lost its lease changes nothing.
 */
export function holds({ id, poolId }: Reference, now: number): SQL {
  return sql`exists (select 1 from attempts as held
    join environments as place on place.id = held.environment_id and place.epoch = held.epoch
    where held.id = ${id} and held.pool_id = ${poolId} and held.state = 'running'
      and held.lost_at > ${now})`;
}

/** An attempt of the pool, with the state of its deployment. */
export function findLease(db: Database, { id, poolId }: Reference) {
  return db
    .select({
      ...getTableColumns(attempts),
      projectId: deployments.projectId,
      deploymentStatus: sql<DeploymentStatus>`${deployments.status}`.as("deployment_status"),
      failureReason: deployments.failureReason,
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(within({ id, poolId }));
}

/** What an attempt and its deployment have in common with a claim, for the replies to runners. */
export const HELD_DEPLOYMENT = {
  ...DEPLOYMENT,
  attemptId: sql<string>`${attempts.id}`.as("attempt_id"),
  epoch: attempts.epoch,
  state: attempts.state,
  offeredUntil: attempts.offeredUntil,
  leaseUntil: attempts.leaseUntil,
  lostAt: attempts.lostAt,
  runUntil: attempts.runUntil,
  deploymentStatus: sql<DeploymentStatus>`${deployments.status}`.as("deployment_status"),
};

/**
 * The attempt and its deployment, and the configurations for a rebase if the environment's has
 * another version than the deployment is based on.
 */
export function findStart(db: Database, reference: Reference) {
  const ifOutdated = (column: string) =>
    sql`case when deployments.status = 'queued'
      and environments.configuration_version is not deployments.configuration_version
      then ${sql.raw(column)} end`;
  return db
    .select({
      ...HELD_DEPLOYMENT,
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
    .where(within(reference));
}

/** Whether the attempt is offered still, and its environment's configuration has this version. */
function isOfferedAt(reference: Reference, version: SQL | number, now: number): SQL {
  return sql`exists (select 1 from attempts as held
    join environments as place on place.id = held.environment_id and place.epoch = held.epoch
    where held.id = ${reference.id} and held.pool_id = ${reference.poolId}
      and held.state = 'offered' and held.offered_until > ${now}
      and place.started_number < ${deployments.number}
      and place.configuration_version = ${version})`;
}

/** A deployment as it is to be started, on a version of the environment's configuration. */
export interface Rebase {
  /** JSON. */
  patch: string;
  configuration: string;
  version: number;
}

/** Bases an offered deployment on another version, which must be the current one. Before `start`. */
export function rebase(
  db: Database,
  reference: Reference,
  { patch, configuration, version }: Rebase,
  now: number,
) {
  return db
    .update(deployments)
    .set({ patch, configuration, configurationVersion: version })
    .where(
      and(
        sql`${deployments.id} = ${deploymentOf(reference)}`,
        eq(deployments.status, "queued"),
        isOfferedAt(reference, version, now),
      ),
    );
}

/** Ends an offered deployment whose patch does not apply to this version of the configuration. */
export function failPatch(
  db: Database,
  reference: Reference,
  { message, version }: { message: string; version: number },
  now: number,
) {
  return db
    .update(deployments)
    .set({
      status: "failed",
      failureReason: FAILURES.patchConflict,
      message,
      finishedAt: now,
      updatedAt: now,
    })
    .where(
      and(
        sql`${deployments.id} = ${deploymentOf(reference)}`,
        eq(deployments.status, "queued"),
        isOfferedAt(reference, version, now),
      ),
    );
}

/**
 * Starts an offered deployment that is based on the current configuration, unless a newer one was
 * ever started in its environment. Older ones that have not started are superseded. For one batch
 * that `finalize` goes on.
 */
export function start(db: Database, reference: Reference, now: number) {
  const { id } = reference;
  return {
    deployment: db
      .update(deployments)
      .set({ status: "in_progress", startedAt: now, updatedAt: now })
      .where(
        and(
          sql`${deployments.id} = ${deploymentOf(reference)}`,
          eq(deployments.status, "queued"),
          isOfferedAt(reference, sql`${deployments.configurationVersion}`, now),
        ),
      ),
    attempt: db
      .update(attempts)
      .set({
        state: "running",
        startedAt: now,
        leaseUntil: now + LEASE_MS,
        lostAt: lostAt(now),
        runUntil: sql`${now} + 1000 * (select max_run_seconds from runner_pools
          where runner_pools.id = ${reference.poolId})`,
      })
      .where(and(within(reference), eq(attempts.state, "offered"), sql`changes() > 0`)),
    environment: db
      .update(environments)
      .set({
        startedNumber: sql`(select number from deployments where id = ${deploymentOf(reference)})`,
      })
      .where(
        sql`changes() > 0 and ${environments.id} = (select mine.environment_id
          from attempts as mine where mine.id = ${id})`,
      ),
    superseded: supersedeOvertaken(db, id, now),
  };
}

/** Supersedes what is older than the deployment that the statement before it started. */
function supersedeOvertaken(db: Database, attemptId: string, now: number) {
  return db
    .update(deployments)
    .set({ status: "superseded", finishedAt: now, updatedAt: now })
    .where(
      sql`changes() > 0 and ${deployments.status} = 'queued'
        and ${deployments.environmentId} = (select mine.environment_id
          from attempts as mine where mine.id = ${attemptId})
        and ${deployments.number} < (select place.started_number
          from environments as place where place.id = ${deployments.environmentId})`,
    );
}

/** Renews the lease, of a runner that was silent for long too, until it is lost. */
export function renewLease(db: Database, reference: Reference, now: number) {
  return db
    .update(attempts)
    .set({ leaseUntil: now + LEASE_MS, lostAt: lostAt(now) })
    .where(and(within(reference), holds(reference, now)));
}

/** Gives an offer back, which queues its deployment again. */
export function release(db: Database, reference: Reference, now: number) {
  return db
    .update(attempts)
    .set({ state: "ended", outcome: "released", endedAt: now })
    .where(and(within(reference), eq(attempts.state, "offered")));
}

export function findStackOf(db: Database, reference: Reference, stackId: string) {
  return db
    .select({ seq: deploymentStacks.seq })
    .from(deploymentStacks)
    .where(
      and(
        sql`${deploymentStacks.deploymentId} = ${deploymentOf(reference)}`,
        eq(deploymentStacks.stackId, stackId),
      ),
    );
}

const lostAt = (now: number) => now + LEASE_MS + STALE_MS;
