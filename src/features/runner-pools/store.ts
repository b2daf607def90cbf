import { and, eq, getTableColumns, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import { environments } from "../environments/table.ts";
import type { Bound } from "../usage/index.ts";
import { runnerPoolEnvironments, runnerPools, runnerTokens } from "./table.ts";

export interface CreatedToken {
  row: TokenRow;
  token: string;
}

export type PoolRow = Awaited<ReturnType<typeof findPool>>[number];
export type TokenRow = typeof runnerTokens.$inferSelect;
export type NewToken = Omit<TokenRow, "version" | "lastUsedAt">;
export type NewPool = typeof runnerPools.$inferSelect;

/** `environmentIds` is a JSON array. */
const POOL = {
  ...getTableColumns(runnerPools),
  environmentIds: sql<string>`(select json_group_array(item.environment_id) from (
    select environment_id from runner_pool_environments
    where pool_id = runner_pools.id order by environment_id) as item)`.as("environment_ids"),
};

const within = (organizationId: string, id: string) =>
  and(eq(runnerPools.organizationId, organizationId), eq(runnerPools.id, id));

const tokenWithin = (organizationId: string, poolId: string, id: string) =>
  and(
    eq(runnerTokens.organizationId, organizationId),
    eq(runnerTokens.poolId, poolId),
    eq(runnerTokens.id, id),
  );

const REVOKED = { secretHash: runnerTokens.secretHash, version: runnerTokens.version };

export function findTokenPrincipal(db: Database, id: string, secretHash: string) {
  return db
    .select({
      keyId: runnerTokens.id,
      organizationId: runnerTokens.organizationId,
      poolId: runnerTokens.poolId,
      version: runnerTokens.version,
      expiresAt: runnerTokens.expiresAt,
      lastUsedAt: runnerTokens.lastUsedAt,
      createdByKeyId: runnerTokens.createdByKeyId,
      createdByMembershipId: runnerTokens.createdByMembershipId,
    })
    .from(runnerTokens)
    .where(and(eq(runnerTokens.id, id), eq(runnerTokens.secretHash, secretHash)));
}

export function recordTokenUse(db: Database, id: string, hour: number) {
  const { lastUsedAt } = runnerTokens;
  return db
    .update(runnerTokens)
    .set({ lastUsedAt: hour })
    .where(and(eq(runnerTokens.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, hour))));
}

export function findPool(db: Database, organizationId: string, id: string) {
  return db.select(POOL).from(runnerPools).where(within(organizationId, id));
}

export function listPools(db: Database, organizationId: string, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, runnerPools.createdAt, runnerPools.id);
  return db
    .select(POOL)
    .from(runnerPools)
    .where(and(eq(runnerPools.organizationId, organizationId), where))
    .orderBy(...orderBy)
    .limit(limit);
}

/** Inserts nothing if one of the environments is not in the organization. */
export function insertPool(db: Database, pool: NewPool, environmentIds: readonly string[]) {
  const ids = sql`(select value from json_each(${JSON.stringify(environmentIds)}))`;
  const isAdded = and(
    eq(environments.organizationId, pool.organizationId),
    sql`${environments.id} in ${ids}`,
  );
  const count = db.select({ count: sql`count(*)` }).from(environments).where(isAdded);
  const { id: poolId, organizationId } = pool;
  return {
    pool: insertFrom(db, runnerPools, pool, sql`where (${count}) = ${environmentIds.length}`),
    environments: insertFrom(
      db,
      runnerPoolEnvironments,
      { poolId, environmentId: sql`item.value`, organizationId },
      sql`from json_each(${JSON.stringify(environmentIds)}) as item where changes() > 0`,
    ),
  };
}

export function deletePool({ db, ownership }: SystemContext, organizationId: string, id: string) {
  const isIdle = sql`not exists (select 1 from attempts
    where attempts.pool_id = ${id} and attempts.state <> 'ended')`;
  return {
    tokens: db.select(REVOKED).from(runnerTokens).where(eq(runnerTokens.poolId, id)),
    records: ownership.deletionOf(db, runnerPools, id, isIdle),
    deleted: db
      .delete(runnerPools)
      .where(and(within(organizationId, id), isIdle))
      .returning({ id: runnerPools.id }),
  };
}

export function tokenCountBound(poolId: string): Bound {
  const count = sql`(select count(*) from runner_tokens where runner_tokens.pool_id = ${poolId}
    and runner_tokens.trust_id is null)`;
  return {
    what: "tokens of a runner pool",
    limit: LIMITS.runnerTokensOfPool.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

function whereKeyExists(keyId: string): SQL {
  return sql`exists (select 1 from api_keys where api_keys.id = ${keyId})`;
}

/** Inserts nothing if the trust of the token, or the key that creates it, was deleted meanwhile. */
export function insertToken(db: Database, token: NewToken) {
  const { trustId, createdByKeyId: creator } = token;
  const row = { ...token, version: 1, lastUsedAt: null };
  if (trustId !== null) {
    // A rotation may have replaced the key that created the trust.
    const values = { ...row, createdByKeyId: sql`trusts.created_by_key_id` };
    return insertFrom(db, runnerTokens, values, sql`from trusts where id = ${trustId}`).returning();
  }
  const isCurrent = creator ? whereKeyExists(creator) : sql`true`;
  return insertFrom(db, runnerTokens, row, sql`where ${isCurrent}`).returning();
}

export function listTokens(
  db: Database,
  organizationId: string,
  poolId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, runnerTokens.createdAt, runnerTokens.id);
  return db
    .select()
    .from(runnerTokens)
    .where(
      and(eq(runnerTokens.organizationId, organizationId), eq(runnerTokens.poolId, poolId), where),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function findToken(db: Database, organizationId: string, poolId: string, id: string) {
  return db
    .select()
    .from(runnerTokens)
    .where(tokenWithin(organizationId, poolId, id));
}

/** Inserts the successor only if the previous statement of the batch has changed a row. */
export function insertSuccessor(db: Database, token: NewToken) {
  const row = { ...token, version: 1, lastUsedAt: null };
  return insertFrom(db, runnerTokens, row, sql`where changes() > 0`);
}

/** Lets a token expire at `time`, or before, as it is, unless the key that rotates it was revoked. */
export function expireToken(
  db: Database,
  { organizationId, poolId, id }: Pick<TokenRow, "organizationId" | "poolId" | "id">,
  { rotatedBy, time }: { rotatedBy: string; time: number },
) {
  const { expiresAt, version } = runnerTokens;
  return db
    .update(runnerTokens)
    .set({
      expiresAt: sql`min(coalesce(${expiresAt}, ${time}), ${time})`,
      version: sql`${version} + 1`,
    })
    .where(and(tokenWithin(organizationId, poolId, id), whereKeyExists(rotatedBy)))
    .returning(REVOKED);
}

/** With `rotatedBy`, deletes nothing if the key that rotates the token was revoked meanwhile. */
export function deleteToken(
  db: Database,
  { organizationId, poolId, id }: Pick<TokenRow, "organizationId" | "poolId" | "id">,
  rotatedBy?: string,
) {
  const isCurrent = rotatedBy === undefined ? undefined : whereKeyExists(rotatedBy);
  return db
    .delete(runnerTokens)
    .where(and(tokenWithin(organizationId, poolId, id), isCurrent))
    .returning(REVOKED);
}
