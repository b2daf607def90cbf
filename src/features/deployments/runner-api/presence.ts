import { sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { runners } from "../runner-pools/table.ts";

export interface SeenRunner {
  /** The ID of the runner's row, if the pool has none yet. */
  id: string;
  poolId: string;
  tokenId: string;
  runnerName: string;
  runnerVersion: string | undefined;
  deploymentId: string | undefined;
  now: number;
}

/**
 * Saves the last request of a runner for work, at most once a minute. In a full pool, a
 * new runner takes the oldest row, with the same condition: made-up names fill no table, and write little.
 */
export function saveRunner(db: Database, seen: SeenRunner) {
  const { id, poolId, tokenId, runnerName: name, runnerVersion, deploymentId, now } = seen;
  const oldestOfFullPool = sql`(select oldest.id from runners as oldest where oldest.pool_id = ${poolId}
      and not exists (select 1 from runners as same where same.pool_id = ${poolId}
        and same.token_id = ${tokenId} and same.name = ${name})
    order by oldest.last_seen_at desc limit 1 offset ${LIMITS.runnersOfPool.value - 1})`;
  const identity = { tokenId, name };
  const sent = { version: runnerVersion ?? null, wantedId: deploymentId ?? null, lastSeenAt: now };
  const setWhere = sql`runners.last_seen_at <= ${now - LIMITS.runnerSavedMs.value}`;
  return insertFrom(
    db,
    runners,
    {
      id: sql`coalesce(${oldestOfFullPool}, ${id})`,
      organizationId: sql`organization_id`,
      poolId,
      ...identity,
      ...sent,
      createdAt: now,
    },
    sql`from runner_pools where id = ${poolId}`,
  )
    .onConflictDoUpdate({
      target: [runners.poolId, runners.tokenId, runners.name],
      set: sent,
      setWhere,
    })
    .onConflictDoUpdate({
      target: runners.id,
      set: { id, ...identity, ...sent, createdAt: now },
      setWhere,
    });
}
