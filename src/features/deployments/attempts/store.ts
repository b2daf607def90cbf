import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { hasUnpurged } from "../../housekeeping/purge/index.ts";
import { runnerTokens } from "../../identity/credentials/runner-token-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { attemptState, attempts, isLiveAttempt } from "../deployments/table.ts";
import { runners } from "../runner-pools/table.ts";

export type AttemptRow = Awaited<ReturnType<typeof listAttempts>>[number];

export type RunnerRow = Awaited<ReturnType<typeof listRunners>>[number];

/** Null once the token is revoked. */
const TOKEN = {
  tokenId: sql<string | null>`${runnerTokens.id}`.as("runner_token_id"),
  tokenName: sql<string | null>`${runnerTokens.name}`.as("runner_token_name"),
};

interface PoolKey {
  organizationId: string;
  poolId: string;
}

export function listAttempts(
  db: Database,
  { organizationId, poolId }: PoolKey,
  page: PageRequest,
  now: number,
) {
  const { where, orderBy, limit } = keyset(page, attempts.createdAt, attempts.id);
  return db
    .select({
      id: sql<string>`${attempts.id}`.as("attempt_id"),
      deploymentId: attempts.deploymentId,
      environmentId: attempts.environmentId,
      state: attempts.state,
      createdAt: sql<number>`${attempts.createdAt}`.as("attempt_created_at"),
      offeredUntil: attempts.offeredUntil,
      startedAt: attempts.startedAt,
      leaseUntil: attempts.leaseUntil,
      runUntil: attempts.runUntil,
      ...TOKEN,
    })
    .from(attempts)
    .leftJoin(runnerTokens, eq(runnerTokens.id, attempts.tokenId))
    .where(
      and(
        eq(attempts.organizationId, organizationId),
        eq(attempts.poolId, poolId),
        sql`(not ${hasUnpurged(organizationId)} or ${hasLiveOwner(environments, attempts.environmentId)})`,
        // The condition of the index.
        sql`${attempts.state} <> ${attemptState.ended}`,
        isLiveAttempt(now),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

/** Those that have asked for work lately, or have a live attempt. */
export function listRunners(
  db: Database,
  { organizationId, poolId }: PoolKey,
  page: PageRequest,
  now: number,
) {
  const { createdAt, id, name, tokenId, lastSeenAt } = runners;
  const { where, orderBy, limit } = keyset(page, createdAt, id);
  const attempt = sql<string | null>`(select json_array(deployment_id, lease_until) from ${attempts}
    where ${attempts.tokenId} = ${tokenId} and ${attempts.runnerName} = ${name}
      and ${attempts.state} <> ${attemptState.ended} and ${isLiveAttempt(now)}
    order by ${attempts.createdAt} desc limit 1)`;
  return db
    .select({
      id: sql<string>`${id}`.as("runner_id"),
      name: sql<string>`${name}`.as("runner_name"),
      version: runners.version,
      wantedId: runners.wantedId,
      createdAt: sql<number>`${createdAt}`.as("runner_created_at"),
      lastSeenAt,
      attempt: attempt.as("attempt"),
      ...TOKEN,
    })
    .from(runners)
    .leftJoin(runnerTokens, eq(runnerTokens.id, tokenId))
    .where(
      and(
        eq(runners.organizationId, organizationId),
        eq(runners.poolId, poolId),
        sql`(${lastSeenAt} > ${now - LIMITS.runnerOnlineMs.value} or ${attempt} is not null)`,
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}
