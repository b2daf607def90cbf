import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { runnerTokens } from "../../identity/credentials/runner-token-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { attemptState, attempts, isLiveAttempt } from "../deployments/table.ts";

export type AttemptRow = Awaited<ReturnType<typeof listAttempts>>[number];

export function listAttempts(
  db: Database,
  { organizationId, poolId }: { organizationId: string; poolId: string },
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
      tokenId: sql<string | null>`${runnerTokens.id}`.as("runner_token_id"),
      tokenName: sql<string | null>`${runnerTokens.name}`.as("runner_token_name"),
    })
    .from(attempts)
    .leftJoin(runnerTokens, eq(runnerTokens.id, attempts.tokenId))
    .where(
      and(
        eq(attempts.organizationId, organizationId),
        eq(attempts.poolId, poolId),
        hasLiveOwner(environments, attempts.environmentId),
        // The condition of the index.
        sql`${attempts.state} <> ${attemptState.ended}`,
        isLiveAttempt(now),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}
