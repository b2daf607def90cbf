import { and, eq, type SQL, sql } from "drizzle-orm";
import { attemptState, attempts } from "../table.ts";

export interface AttemptKey {
  id: string;
  poolId: string;
}

export function isAttempt({ id, poolId }: AttemptKey): SQL | undefined {
  return and(eq(attempts.id, id), eq(attempts.poolId, poolId));
}

export function deploymentIdOf({ id, poolId }: AttemptKey): SQL {
  return sql`(select attempts.deployment_id from attempts
    where attempts.id = ${id} and attempts.pool_id = ${poolId})`;
}

/**
 * The fence: each statement that writes for a runner includes this condition, so that a runner that
 * has lost its lease changes nothing.
 */
export function whereLeaseIsValid({ id, poolId }: AttemptKey, now: number): SQL {
  return sql`exists (select 1 from attempts as leased
    join environments on environments.id = leased.environment_id
      and environments.epoch = leased.epoch
    where leased.id = ${id} and leased.pool_id = ${poolId}
      and leased.state = ${attemptState.running} and leased.lost_at > ${now})`;
}
