import { and, eq, sql } from "drizzle-orm";
import { after } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/client.ts";
import { insertFrom } from "../../../../db/insert-from.ts";
import { environments } from "../../../tenancy/environment-table.ts";
import {
  attemptState,
  attempts,
  deploymentStatus,
  deployments,
  RUNNING_STATUSES,
} from "../table.ts";
import { type AttemptKey, deploymentIdOf, isAttempt } from "./lease.ts";
import { releasedOffer } from "./unstarted-offers.ts";

export interface NewAttempt {
  id: string;
  poolId: string;
  tokenId: string;
  requestId: string;
  /** Only this one is offered, and only when it is its turn. */
  deploymentId: string | undefined;
  runnerName: string;
  now: number;
  offeredUntil: number;
}

/**
 * Offers the oldest queued deployment of an environment of the pool, unless it is held, a deployment is running
 * or offered there, a newer one has ever started, or the project is disconnecting. Inserts nothing if
 * the pool has already sent this request.
 */
export function insertAttempt(db: Database, attempt: NewAttempt) {
  const { id, poolId, tokenId, requestId, deploymentId, runnerName, now, offeredUntil } = attempt;
  const isWanted = deploymentId === undefined ? sql`` : sql`and deployments.id = ${deploymentId}`;
  return insertFrom(
    db,
    attempts,
    {
      id,
      organizationId: sql`deployments.organization_id`,
      environmentId: sql`environments.id`,
      deploymentId: sql`deployments.id`,
      planId: null,
      poolId,
      requestId,
      epoch: sql`environments.epoch + 1`,
      state: "offered",
      offeredUntil,
      leaseUntil: null,
      lostAt: null,
      outcome: null,
      completion: null,
      createdAt: now,
      startedAt: null,
      endedAt: null,
      tokenId,
      runUntil: null,
      isLogPending: sql`0`,
      runnerName,
      checked: null,
    },
    // The cross joins and the index read nothing of the environments in which all deployments are held.
    sql`from runner_pool_environments
      cross join deployments indexed by deployments_startable
        on deployments.environment_id = runner_pool_environments.environment_id
        and deployments.status = ${deploymentStatus.queued} and deployments.held_until <= ${now}
      cross join environments on environments.id = deployments.environment_id
      cross join projects on projects.id = environments.project_id
        and projects.connection_status <> 'disconnecting'
      where runner_pool_environments.pool_id = ${poolId}
        ${isWanted}
        and deployments.number > environments.started_number
        and deployments.number = (select min(older.number) from deployments as older
          where older.environment_id = runner_pool_environments.environment_id
            and older.status = ${deploymentStatus.queued})
        and not exists (select 1 from deployments as running
          where running.environment_id = environments.id and running.status in ${RUNNING_STATUSES})
        and not exists (select 1 from attempts as other
          where other.environment_id = environments.id and other.state <> ${attemptState.ended})
        and not exists (select 1 from attempts as same
          where same.pool_id = ${poolId} and same.request_id = ${requestId})
      order by deployments.created_at, deployments.id limit 1`,
  );
}

/** Only if the same batch has inserted the attempt. */
export function incrementEpoch(db: Database, attemptId: string) {
  return db
    .update(environments)
    .set({ epoch: sql`epoch + 1` })
    .where(sql`${environments.id} = (select environment_id from attempts where id = ${attemptId})`);
}

/** The deployment stays queued, except after its last offer. Precedes `finalize` in a batch. */
export function releaseOffer(db: Database, attempt: AttemptKey, now: number) {
  const released = db
    .update(attempts)
    .set({ state: "ended", outcome: "released", endedAt: now })
    .where(and(isAttempt(attempt), eq(attempts.state, "offered")));
  const counted = after(released, (hasChanged) =>
    db
      .update(deployments)
      .set(releasedOffer(now))
      .where(sql`${hasChanged} and ${deployments.id} = ${deploymentIdOf(attempt)}`),
  );
  return { released, counted };
}
