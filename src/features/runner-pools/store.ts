import { and, eq, getTableColumns, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../context.ts";
import { after, type Statement } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../db/expected-version.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { hasName, keyset, type NamedPageRequest, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import { mayCreateUntil } from "../credentials/api-key-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { environments } from "../tenancy/environment-table.ts";
import { runnerPools } from "../tenancy/runner-pool-table.ts";
import type { Bound } from "../usage/index.ts";
import type { RunnerPoolChange } from "./model.ts";
import { runnerPoolEnvironments } from "./table.ts";

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

export function saveTokenUse(db: Database, id: string, hour: number) {
  const { lastUsedAt } = runnerTokens;
  return db
    .update(runnerTokens)
    .set({ lastUsedAt: hour })
    .where(and(eq(runnerTokens.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, hour))));
}

export function findPool(db: Database, organizationId: string, id: string) {
  return db.select(POOL).from(runnerPools).where(within(organizationId, id));
}

export function listPools(db: Database, organizationId: string, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, runnerPools.createdAt, runnerPools.id);
  return db
    .select(POOL)
    .from(runnerPools)
    .where(
      and(eq(runnerPools.organizationId, organizationId), hasName(page, runnerPools.name), where),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

/** Inserts nothing if one of the environments is not in the organization. */
export function insertPool(db: Database, pool: NewPool, environmentIds: readonly string[]) {
  const { id: poolId, organizationId } = pool;
  const areInside = areEnvironmentsOf(organizationId, environmentIds);
  const { id } = runnerPools;
  const inserted = insertFrom(db, runnerPools, pool, sql`where ${areInside}`).returning({ id });
  const environments = after(inserted, (hasChanged) =>
    insertFrom(
      db,
      runnerPoolEnvironments,
      { poolId, environmentId: sql`item.value`, organizationId },
      sql`from json_each(${JSON.stringify(environmentIds)}) as item where ${hasChanged}`,
    ),
  );
  return { inserted, environments };
}

/** Whether these different environments are in the organization. */
function areEnvironmentsOf(organizationId: string, ids: readonly string[]): SQL {
  return sql`(select count(*) from ${environments}
    where ${environments.organizationId} = ${organizationId}
      and ${environments.id} in (select value from json_each(${JSON.stringify(ids)}))) = ${ids.length}`;
}

/**
 * Changes nothing if the request expects another version, or if one of the environments is not in the
 * organization.
 */
export function updatePool(
  ctx: ServiceContext,
  pool: { id: string; organizationId: string },
  { name, maxRunSeconds, environmentIds }: RunnerPoolChange,
) {
  const { db, clock } = ctx;
  const { id, organizationId } = pool;
  const { version } = runnerPools;
  const areInside = environmentIds && areEnvironmentsOf(organizationId, environmentIds);
  const mayChange = sql`exists (select 1 from ${runnerPools} where ${within(organizationId, id)})
    and ${resourceHasExpectedVersion(ctx, version, within(organizationId, id))}
    and ${areInside ?? sql`true`}`;
  return {
    ...(environmentIds && replaceEnvironments(db, pool, environmentIds, mayChange)),
    changed: db
      .update(runnerPools)
      .set({
        name,
        maxRunSeconds,
        updatedAt: clock.now(),
        version: nextVersion(version),
      })
      .where(and(within(organizationId, id), mayChange))
      .returning({ id: runnerPools.id }),
  };
}

function replaceEnvironments(
  db: Database,
  { id: poolId, organizationId }: { id: string; organizationId: string },
  ids: readonly string[],
  condition: SQL,
) {
  const list = JSON.stringify(ids);
  const { environmentId } = runnerPoolEnvironments;
  return {
    removed: db
      .delete(runnerPoolEnvironments)
      .where(
        and(
          eq(runnerPoolEnvironments.poolId, poolId),
          sql`${environmentId} not in (select value from json_each(${list}))`,
          condition,
        ),
      ),
    added: insertFrom(
      db,
      runnerPoolEnvironments,
      { poolId, environmentId: sql`item.value`, organizationId },
      sql`from json_each(${list}) as item where ${condition}
        and not exists (select 1 from ${runnerPoolEnvironments}
          where ${runnerPoolEnvironments.poolId} = ${poolId} and ${environmentId} = item.value)`,
    ),
  };
}

/** Deletes nothing if the request expects another version, or if one of the runners has an attempt. */
export function deletePool(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const isIdle = sql`not exists (select 1 from attempts
    where attempts.pool_id = ${id} and attempts.state <> 'ended')`;
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, runnerPools.version, resource);
  const isDeletable = sql`${isIdle} and ${isExpected}`;
  return {
    tokens: db.select(REVOKED).from(runnerTokens).where(eq(runnerTokens.poolId, id)),
    owned: ownership.deletionOf(db, runnerPools, id, isDeletable),
    deleted: db
      .delete(runnerPools)
      .where(and(resource, isDeletable))
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

/**
 * Inserts nothing if the trust of the token was deleted meanwhile.
 * @param condition For a token without a trust.
 */
export function insertToken(db: Database, token: NewToken, condition: SQL = sql`true`) {
  const { trustId } = token;
  const row = { ...token, version: 1, lastUsedAt: null };
  if (trustId !== null) {
    // A rotation may have replaced the key that created the trust.
    const values = { ...row, createdByKeyId: sql`trusts.created_by_key_id` };
    return insertFrom(db, runnerTokens, values, sql`from trusts where id = ${trustId}`).returning();
  }
  return insertFrom(db, runnerTokens, row, sql`where ${condition}`).returning();
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

/** Inserts nothing if the key that creates the token was revoked meanwhile, or has less now. */
export function insertTokenOfKey({ db, actor }: ServiceContext, token: NewToken) {
  return insertToken(db, token, mayCreateUntil(actor, token.expiresAt));
}

/** Inserts the successor only if its token was `retired`. */
export function insertSuccessor(db: Database, token: NewToken, retired: Statement) {
  const row = { ...token, version: 1, lastUsedAt: null };
  return after(retired, (hasChanged) =>
    insertFrom(db, runnerTokens, row, sql`where ${hasChanged}`),
  );
}

/**
 * Lets a token expire at `time`, or before, as it is. Changes nothing unless the key that rotates it may
 * create its successor.
 */
export function expireToken(
  { db, actor }: ServiceContext,
  { organizationId, poolId, id }: TokenRow,
  { successor, time }: { successor: NewToken; time: number },
) {
  const { expiresAt, version } = runnerTokens;
  return db
    .update(runnerTokens)
    .set({
      expiresAt: sql`min(coalesce(${expiresAt}, ${time}), ${time})`,
      version: sql`${version} + 1`,
    })
    .where(and(tokenWithin(organizationId, poolId, id), mayCreateUntil(actor, successor.expiresAt)))
    .returning(REVOKED);
}

/** A JSON list of the token, as `ChangedKey`. */
export function changedKeyOf({ id }: TokenRow): SQL {
  return sql`(select json_array(json_object('secretHash', ${runnerTokens.secretHash},
    'version', ${runnerTokens.version})) from ${runnerTokens} where ${runnerTokens.id} = ${id})`;
}

/** Like `expireToken`, at once. */
export function deleteRotatedToken(
  { db, actor }: ServiceContext,
  { organizationId, poolId, id }: TokenRow,
  successor: NewToken,
) {
  return db
    .delete(runnerTokens)
    .where(and(tokenWithin(organizationId, poolId, id), mayCreateUntil(actor, successor.expiresAt)))
    .returning(REVOKED);
}

/** Deletes nothing if the request expects another version. */
export function deleteToken(ctx: ServiceContext, { organizationId, poolId, id }: TokenRow) {
  return ctx.db
    .delete(runnerTokens)
    .where(
      and(tokenWithin(organizationId, poolId, id), hasExpectedVersion(ctx, runnerTokens.version)),
    )
    .returning(REVOKED);
}
