import { sql } from "drizzle-orm";
import { LIMITS } from "../../../lib/limits.ts";
import { attemptState, deploymentStatus, RUNNING_STATUSES } from "./table.ts";

/** What a queued deployment waits for. */
export interface Waiting {
  /** The one that is running in the environment, or else the first of those that are queued before it. */
  earlierId: string | null;
  isOffered: 0 | 1;
  /** Those with the environment. Of many, those that were seen last. */
  pools: WaitingPool[];
}

export interface WaitingPool {
  id: string;
  name: string;
  /** When one of its runners last asked for work that may be the deployment. */
  askedAt: number | null;
  /** Whether that was lately, or one of its runners executes a deployment. */
  isOnline: 0 | 1;
}

/** JSON of `Waiting`. Null once the deployment is no longer queued. */
export function waitingFor(now: number) {
  const { queued } = deploymentStatus;
  // The `+` keeps SQLite from the index of the numbers, in which it would read the whole history.
  return sql<string | null>`case deployments.status when ${queued} then json_object(
    'earlierId', coalesce(
      (select running.id from deployments as running
        where running.environment_id = deployments.environment_id and running.status in ${RUNNING_STATUSES}),
      (select earlier.id from deployments as earlier
        where earlier.environment_id = deployments.environment_id and earlier.status = ${queued}
          and +earlier.number < deployments.number order by +earlier.number limit 1)),
    'isOffered', exists (select 1 from attempts as offer
      where offer.environment_id = deployments.environment_id and offer.state <> ${attemptState.ended}
        and offer.deployment_id = deployments.id and offer.offered_until > ${now}),
    'pools', json((select json_group_array(json_object('id', item.id, 'name', item.name,
        'askedAt', item.asked_at, 'isOnline', coalesce(item.asked_at > ${now - LIMITS.runnerOnlineMs.value}, 0)
          or exists (select 1 from attempts as busy where busy.pool_id = item.id
            and busy.state <> ${attemptState.ended} and busy.lease_until > ${now})))
      from (select pool.id, pool.name,
          (select asked.last_seen_at from runners as asked where asked.pool_id = pool.id
            and coalesce(asked.wanted_id, deployments.id) = deployments.id
            order by asked.last_seen_at desc limit 1) as asked_at
        from runner_pool_environments as place join runner_pools as pool on pool.id = place.pool_id
        where place.environment_id = deployments.environment_id
        order by asked_at desc limit ${LIMITS.waitingPools.value}) as item))) end`.as(
    "waiting_for",
  );
}
