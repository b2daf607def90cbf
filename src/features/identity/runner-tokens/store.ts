import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { limitsOrganizationId } from "../../tenancy/organization-table.ts";
import { mayCreateUntil } from "../credentials/api-key-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";

export interface CreatedToken {
  row: TokenRow;
  token: string;
}

export type TokenRow = typeof runnerTokens.$inferSelect;
export type NewToken = Omit<TokenRow, "version" | "lastUsedAt">;

const within = (organizationId: string, poolId: string, id: string) =>
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
      limitsOrganizationId: limitsOrganizationId(runnerTokens.organizationId),
    })
    .from(runnerTokens)
    .where(
      and(
        eq(runnerTokens.id, id),
        eq(runnerTokens.secretHash, secretHash),
        isLiveOrganization(runnerTokens.organizationId),
      ),
    );
}

export function saveTokenUse(db: Database, id: string, hour: number) {
  const { lastUsedAt } = runnerTokens;
  return db
    .update(runnerTokens)
    .set({ lastUsedAt: hour })
    .where(and(eq(runnerTokens.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, hour))));
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
    .where(within(organizationId, poolId, id));
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
    .where(and(within(organizationId, poolId, id), mayCreateUntil(actor, successor.expiresAt)))
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
    .where(and(within(organizationId, poolId, id), mayCreateUntil(actor, successor.expiresAt)))
    .returning(REVOKED);
}

/** Deletes nothing if the request expects another version. */
export function deleteToken(ctx: ServiceContext, { organizationId, poolId, id }: TokenRow) {
  return ctx.db
    .delete(runnerTokens)
    .where(and(within(organizationId, poolId, id), hasExpectedVersion(ctx, runnerTokens.version)))
    .returning(REVOKED);
}
