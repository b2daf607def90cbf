import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { attempts, deployments, environments } from "../../db/schema.ts";
import { DEPLOYMENT, type DeploymentStatus } from "../deployments/index.ts";

export type ClaimRow = Awaited<ReturnType<typeof findClaim>>[number];

export interface NewAttempt {
  id: string;
  poolId: string;
  requestId: string;
  now: number;
  offeredUntil: number;
}

/**
 * Offers the oldest deployment whose turn it is in any environment of the pool: none is active
 * there, none is offered, none older waits, and none newer was ever started. The same request gets
 * no second one.
 */
export function insertAttempt(db: Database, attempt: NewAttempt) {
  const { id, poolId, requestId, now, offeredUntil } = attempt;
  return db.insert(attempts).select(
    sql`select ${id}, turn.organization_id, turn.environment_id, turn.id, ${poolId}, ${requestId},
        place.epoch + 1, 'offered', ${offeredUntil}, null, null, null, null, ${now}, null, null
      from runner_pool_environments as mine
      join environments as place on place.id = mine.environment_id
      join deployments as turn on turn.environment_id = place.id and turn.status = 'queued'
      where mine.pool_id = ${poolId}
        and turn.number > place.started_number
        and turn.number = (select min(older.number) from deployments as older
          where older.environment_id = place.id and older.status = 'queued')
        and not exists (select 1 from deployments as live where live.environment_id = place.id
          and live.status in ('in_progress', 'canceling'))
        and not exists (select 1 from attempts as held where held.environment_id = place.id
          and held.state <> 'ended')
        and not exists (select 1 from attempts as known
          where known.pool_id = ${poolId} and known.request_id = ${requestId})
      order by turn.created_at, turn.id limit 1`,
  );
}

/** Raises the epoch of the environment, if the attempt was inserted in the same batch. */
export function raiseEpoch(db: Database, attemptId: string) {
  return db
    .update(environments)
    .set({ epoch: sql`epoch + 1` })
    .where(sql`${environments.id} = (select environment_id from attempts where id = ${attemptId})`);
}

/** What a request of the pool was given: the attempt, its deployment, and names of variables. */
export function findClaim(db: Database, poolId: string, requestId: string) {
  return db
    .select({
      ...DEPLOYMENT,
      attemptId: sql<string>`${attempts.id}`.as("attempt_id"),
      epoch: attempts.epoch,
      state: attempts.state,
      offeredUntil: attempts.offeredUntil,
      leaseUntil: attempts.leaseUntil,
      lostAt: attempts.lostAt,
      deploymentStatus: sql<DeploymentStatus>`${deployments.status}`.as("deployment_status"),
      variableNames: sql<string>`(select json_group_array(named.name) from (
        select distinct name from variables where variables.environment_id = deployments.environment_id
        order by name) as named)`.as("variable_names"),
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(and(eq(attempts.poolId, poolId), eq(attempts.requestId, requestId)));
}
