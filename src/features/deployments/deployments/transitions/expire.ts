import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../../db/client.ts";
import { CANCEL_TIMEOUT_MS, DEPLOYMENT_FAILURES } from "../lifecycle.ts";
import {
  attemptState,
  attempts,
  deploymentStatus,
  deployments,
  RUNNING_STATUSES,
} from "../table.ts";
import { type EnvironmentFilter, matchesFilter } from "./environment-filter.ts";
import { lapsedOffer } from "./unstarted-offers.ts";

/** Precedes `finalize` in a batch. */
export function expire(db: Database, filter: EnvironmentFilter, now: number) {
  return {
    lapsedOffers: countLapsedOffers(db, filter, now),
    offers: endLapsedOffers(db, filter, now),
    overdue: endOverdueDeployments(db, filter, now),
    timedOut: cancelTimedOutRuns(db, filter, now),
  };
}

/** Precedes `endLapsedOffers`, which hides the attempts. */
function countLapsedOffers(db: Database, filter: EnvironmentFilter, now: number) {
  return db
    .update(deployments)
    .set(lapsedOffer(now))
    .where(
      and(
        sql`${deployments.status} = ${deploymentStatus.queued}`,
        sql`${deployments.id} in (select deployment_id from attempts
          where ${isIn(attemptState.offered)} and offered_until <= ${now}
            and ${matchesFilter(filter, attempts.environmentId) ?? sql`true`})`,
      ),
    );
}

function endLapsedOffers(db: Database, filter: EnvironmentFilter, now: number) {
  return db
    .update(attempts)
    .set({ state: "ended", outcome: "lapsed", endedAt: now })
    .where(
      and(
        matchesFilter(filter, attempts.environmentId),
        isIn(attemptState.offered),
        sql`${attempts.offeredUntil} <= ${now}`,
      ),
    );
}

function endOverdueDeployments(db: Database, filter: EnvironmentFilter, now: number) {
  const { canceling, canceled, failed } = deploymentStatus;
  const isLost = sql`exists (select 1 from attempts
    where attempts.environment_id = ${deployments.environmentId}
      and attempts.state = ${attemptState.running}
      and attempts.deployment_id = ${deployments.id} and attempts.lost_at <= ${now})`;
  // While a deployment is canceling, its only possible failure reason is the run timeout.
  return db
    .update(deployments)
    .set({
      status: sql`case when status = ${canceling} and failure_reason is null then ${canceled}
        else ${failed} end`,
      failureReason: sql`case status when ${canceling} then failure_reason
        else ${DEPLOYMENT_FAILURES.runnerLost} end`,
      finishedAt: now,
      updatedAt: now,
    })
    .where(
      and(
        // With its index, SQLite reads nothing of environments in which none is running.
        sql`${deployments.id} in (select active.id from deployments as active indexed by deployments_active
          where ${matchesFilter(filter, sql`active.environment_id`) ?? sql`true`}
            and active.status in ${RUNNING_STATUSES})`,
        sql`(${isLost} or ${deployments.status} = ${canceling}
          and ${deployments.cancelDeadline} <= ${now})`,
      ),
    );
}

/** The runs end as `failed`. */
function cancelTimedOutRuns(db: Database, filter: EnvironmentFilter, now: number) {
  return db
    .update(deployments)
    .set({
      status: "canceling",
      failureReason: DEPLOYMENT_FAILURES.runTimeout,
      cancelDeadline: now + CANCEL_TIMEOUT_MS,
      updatedAt: now,
    })
    .where(
      and(
        sql`${deployments.status} = ${deploymentStatus.in_progress}`,
        sql`${deployments.id} in (select deployment_id from attempts
          where ${isIn(attemptState.running)} and run_until <= ${now}
            and ${matchesFilter(filter, attempts.environmentId) ?? sql`true`})`,
      ),
    );
}

/** `<> 'ended'` is the condition of the partial index `attempts_live`, which `=` does not imply. */
function isIn(state: SQL): SQL {
  return sql`attempts.state <> ${attemptState.ended} and attempts.state = ${state}`;
}
