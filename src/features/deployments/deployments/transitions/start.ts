import { and, eq, type SQL, sql } from "drizzle-orm";
import { after } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/client.ts";
import { environments } from "../../../tenancy/environment-table.ts";
import { hasFacts, START_BASIS } from "../../conditions/index.ts";
import { CHECKED } from "../checked.ts";
import { DEPLOYMENT_FAILURES, LEASE_TTL_MS, LOST_AFTER_MS } from "../lifecycle.ts";
import type { Rebase } from "../rebase.ts";
import {
  attemptState,
  attempts,
  deploymentStacks,
  deploymentStatus,
  deployments,
} from "../table.ts";
import { type AttemptKey, deploymentIdOf, isAttempt } from "./lease.ts";

/** Precedes `startDeployment` in a batch. */
export function rebase(
  db: Database,
  attempt: AttemptKey,
  { patch, configuration, digest, version }: Rebase & { digest: string },
  now: number,
) {
  return db
    .update(deployments)
    .set({
      patch,
      configuration,
      configurationDigest: digest,
      configurationVersion: version,
    })
    .where(whereOfferIsValid(attempt, version, now));
}

/** Stores a new order, because needs have changed. The next try of the start decides the rest. */
export function reorderStacks(
  db: Database,
  attempt: AttemptKey,
  { stackIds, version }: { stackIds: readonly string[]; version: number },
  now: number,
) {
  return db
    .update(deploymentStacks)
    .set({
      position: sql`(select item.key from json_each(${JSON.stringify(stackIds)}) as item
        where item.value = ${deploymentStacks.stackId})`,
    })
    .where(
      sql`${deploymentStacks.deploymentId} in (select ${deployments.id} from ${deployments}
        where ${whereOfferIsValid(attempt, version, now)})`,
    );
}

export function failPatch(
  db: Database,
  attempt: AttemptKey,
  { message, version }: { message: string; version: number },
  now: number,
) {
  return db
    .update(deployments)
    .set({
      status: "failed",
      failureReason: DEPLOYMENT_FAILURES.patchConflict,
      message,
      finishedAt: now,
      updatedAt: now,
    })
    .where(whereOfferIsValid(attempt, version, now));
}

/** A deployment without a source of its own deploys what the environment runs by now. */
const CURRENT_SOURCE = sql`iif(keeps_source, (select environments.source from environments
  where environments.id = deployments.environment_id), deployments.source)`;

/**
 * Supersedes older queued deployments. Precedes `finalize` in a batch.
 * @param facts What was evaluated, so that it starts only as long as this is true. Null: no rules apply.
 */
export function startDeployment(
  db: Database,
  attempt: AttemptKey,
  facts: string | null,
  now: number,
) {
  const environmentId = sql`(select attempts.environment_id from attempts
    where attempts.id = ${attempt.id})`;
  const deployment = db
    .update(deployments)
    .set({
      status: "in_progress",
      startedAt: now,
      updatedAt: now,
      source: CURRENT_SOURCE,
      startBasis: START_BASIS,
      heldUntil: 0,
    })
    .where(
      and(
        whereOfferIsValid(attempt, sql`${deployments.configurationVersion}`, now),
        hasFacts(facts),
      ),
    );
  const running = {
    state: "running" as const,
    startedAt: now,
    leaseUntil: now + LEASE_TTL_MS,
    lostAt: now + LOST_AFTER_MS,
    isLogPending: true,
    checked: CHECKED,
    runUntil: sql`${now} + 1000 * (select max_run_seconds from runner_pools
      where runner_pools.id = ${attempt.poolId})`,
  };
  const started = after(deployment, (hasChanged) =>
    db
      .update(attempts)
      .set(running)
      .where(and(isAttempt(attempt), eq(attempts.state, "offered"), hasChanged)),
  );
  const number = sql`(select number from deployments where id = ${deploymentIdOf(attempt)})`;
  const environment = after(started, (hasChanged) =>
    db
      .update(environments)
      .set({ startedNumber: number })
      .where(sql`${hasChanged} and ${environments.id} = ${environmentId}`),
  );
  const superseded = after(environment, (hasChanged) =>
    supersedeOlderThanStarted(db, environmentId, now, hasChanged),
  );
  return { deployment, started, environment, superseded };
}

function supersedeOlderThanStarted(db: Database, environmentId: SQL, now: number, hasStarted: SQL) {
  return db
    .update(deployments)
    .set({ status: "superseded", finishedAt: now, updatedAt: now })
    .where(
      sql`${hasStarted} and ${deployments.status} = ${deploymentStatus.queued}
        and ${deployments.environmentId} = ${environmentId}
        and ${deployments.number} < (select environments.started_number
          from environments where environments.id = ${deployments.environmentId})`,
    );
}

/**
 * The deployment of an attempt that is still offered, if its environment's configuration has this
 * version, no newer deployment has ever started there, and its project is not disconnecting.
 */
export function whereOfferIsValid(attempt: AttemptKey, version: SQL | number, now: number) {
  return and(
    sql`${deployments.id} = ${deploymentIdOf(attempt)}`,
    eq(deployments.status, "queued"),
    sql`exists (select 1 from attempts as offered
      join environments on environments.id = offered.environment_id
        and environments.epoch = offered.epoch
      join projects on projects.id = environments.project_id
        and projects.connection_status <> 'disconnecting'
      where offered.id = ${attempt.id} and offered.pool_id = ${attempt.poolId}
        and offered.state = ${attemptState.offered} and offered.offered_until > ${now}
        and environments.started_number < ${deployments.number}
        and environments.configuration_version = ${version})`,
  );
}
