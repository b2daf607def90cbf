import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../../lib/limits.ts";
import { FACTS, type Facts } from "../conditions/index.ts";
import { attemptState, deploymentStatus, RUNNING_STATUSES } from "./table.ts";

/** What a queued deployment waits for. */
export interface Waiting {
  /** The one that is running in the environment, or else the first of those that are queued before it. */
  earlierId: string | null;
  isOffered: 0 | 1;
  /** The pools that include the environment. Of many, those that were seen last. */
  pools: WaitingPool[];
  /** Null: no rules apply. */
  facts: Facts | null;
  /** When it was read. */
  now: number;
}

export interface WaitingPool {
  id: string;
  name: string;
  /** When one of its runners last asked for work that may be the deployment. */
  askedAt: number | null;
  /** Whether `askedAt` is recent, or a runner of the pool that will ask again executes a deployment. */
  isOnline: 0 | 1;
}

/** The newest attempts of a pool that are searched for one of a runner that will ask again. */
const ATTEMPTS_SEARCHED = 10;

/**
 * JSON of `Waiting`. Null once the deployment is no longer queued.
 * @param facts JSON of `Facts`.
 */
export function waitingFor(now: number, facts: SQL<string | null> = FACTS) {
  const { queued } = deploymentStatus;
  // The `+` keeps SQLite from the index of the numbers, in which it would read the whole history.
  return sql<string | null>`case deployments.status when ${queued} then json_object(
    'earlierId', coalesce(
      (select running.id from deployments as running
        where running.environment_id = deployments.environment_id and running.status in ${RUNNING_STATUSES}),
      (select earlier.id from deployments as earlier
        where earlier.environment_id = deployments.environment_id and earlier.status = ${queued}
          and +earlier.number < deployments.number order by +earlier.number limit 1)),
    'facts', json(${facts}), 'now', ${now},
    'isOffered', exists (select 1 from attempts as offer
      where offer.environment_id = deployments.environment_id and offer.state <> ${attemptState.ended}
        and offer.deployment_id = deployments.id and offer.offered_until > ${now}),
    'pools', json((select json_group_array(json_object('id', item.id, 'name', item.name,
        'askedAt', nullif(item.asked_at, 0), 'isOnline',
        item.asked_at > ${now - LIMITS.runnerOnlineMs.value} or ${isBusy(now)}))
      from (select pool.id, pool.name,
          max(${lastAsked(sql`is null`)}, ${lastAsked(sql`= deployments.id`)}) as asked_at
        from (select pool_id from runner_pool_environments as place
          where place.environment_id = deployments.environment_id
          order by place.rowid limit ${LIMITS.waitingPoolsRead.value}) as selected
        join runner_pools as pool on pool.id = selected.pool_id
        order by asked_at desc limit ${LIMITS.waitingPools.value}) as item))) end`.as(
    "waiting_for",
  );
}

/** One row of the index, while a condition on both kinds of runners would read all of the pool. */
function lastAsked(wanted: SQL) {
  return sql`coalesce((select max(asked.last_seen_at) from runners as asked
    where asked.pool_id = pool.id and asked.wanted_id ${wanted}), 0)`;
}

/** A runner that has asked for one deployment alone exits after it. */
function isBusy(now: number) {
  return sql`exists (select 1 from (select token_id, runner_name, lease_until from attempts
      where pool_id = item.id and state <> ${attemptState.ended}
      order by created_at desc, id desc limit ${ATTEMPTS_SEARCHED}) as record
    where record.lease_until > ${now} and not exists (select 1 from runners as own
      where own.pool_id = item.id and own.token_id = record.token_id and own.name = record.runner_name
        and own.wanted_id is not null))`;
}
