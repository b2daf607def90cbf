import { and, asc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { apiKeys, mayCreateUntil } from "../credentials/api-key-table.ts";
import { IS_LAST_PART, PART_SIZE, ROOT } from "../credentials/index.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { trusts, usedTokens } from "../credentials/trust-table.ts";

export type TrustRow = typeof trusts.$inferSelect;
export type TrustOfIssuer = Awaited<ReturnType<typeof findTrustsOfIssuer>>[number];

const within = (organizationId: string, id: string) =>
  and(eq(trusts.organizationId, organizationId), eq(trusts.id, id));

export function listTrusts(db: Database, organizationId: string, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, trusts.createdAt, trusts.id);
  return db
    .select()
    .from(trusts)
    .where(and(eq(trusts.organizationId, organizationId), hasName(page, trusts.name), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findTrust(db: Database, organizationId: string, id: string) {
  return db.select().from(trusts).where(within(organizationId, id));
}

/** Oldest first, each with the account of its membership. */
export function findTrustsOfIssuer(db: Database, organizationId: string, issuer: string) {
  return db
    .select({ ...getTableColumns(trusts), accountId: memberships.accountId })
    .from(trusts)
    .leftJoin(memberships, eq(memberships.id, trusts.membershipId))
    .where(
      and(
        eq(trusts.organizationId, organizationId),
        eq(trusts.issuer, issuer),
        isLiveOrganization(organizationId),
      ),
    )
    .orderBy(asc(trusts.createdAt), asc(trusts.id))
    .limit(LIMITS.trusts.value);
}

export function findMembership(db: Database, organizationId: string, id: string) {
  return db
    .select({ role: memberships.role, status: memberships.status })
    .from(memberships)
    .where(and(eq(memberships.organizationId, organizationId), eq(memberships.id, id)));
}

export function trustCountBound(organizationId: string): Bound {
  const count = sql`(select count(*) from trusts where trusts.organization_id = ${organizationId})`;
  return {
    what: "trusts of an organization",
    limit: LIMITS.trusts.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Inserts nothing if the key that creates the trust was revoked meanwhile, or has less now. */
export function insertTrustOfKey({ db, actor }: ServiceContext, trust: TrustRow) {
  return insertTrust(db, trust, mayCreateUntil(actor, null));
}

export function insertTrust(db: Database, trust: TrustRow, condition: SQL = sql`true`) {
  return insertFrom(db, trusts, trust, sql`where ${condition}`).returning({ id: trusts.id });
}

/** Some of its runner tokens, and the trust itself once it has none, and no keys beyond the part of the batch. */
export function deleteTrust(db: Database, organizationId: string, id: string) {
  const ofTrust = sql`from runner_tokens where trust_id = ${id}`;
  const limit = LIMITS.deletedCredentials.value;
  const isLast = sql`${IS_LAST_PART} and not exists (select 1 ${ofTrust})`;
  return {
    tokens: db
      .delete(runnerTokens)
      .where(
        and(
          eq(runnerTokens.organizationId, organizationId),
          sql`${runnerTokens}.rowid in (select rowid ${ofTrust} limit ${limit})`,
        ),
      )
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
    deleted: db
      .delete(trusts)
      .where(and(within(organizationId, id), isLast))
      .returning({ id: trusts.id }),
  };
}

/** Selects the IDs of keys that the trust has issued, as roots of a family: more than a part has, if there are so many. */
export function keysOfTrust(id: string): SQL {
  return sql`select * from (select id, ${ROOT} from api_keys where trust_id = ${id} limit ${PART_SIZE + 1})`;
}

export function findSomeKeysOfTrust(db: Database, id: string) {
  return db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(eq(apiKeys.trustId, id))
    .limit(PART_SIZE);
}

export function liveKeyBound(id: string, now: number): Bound {
  const live = sql`((select count(*) from api_keys where trust_id = ${id} and expires_at > ${now})
    + (select count(*) from runner_tokens where trust_id = ${id} and expires_at > ${now}))`;
  return {
    what: "live keys of a trust",
    limit: LIMITS.liveKeysOfTrust.value,
    before: live,
    after: sql`${live} + 1`,
  };
}

/**
 * Violates the primary key if the token has been exchanged before. Inserts nothing if the trust was
 * deleted meanwhile.
 */
export function insertUsedToken(
  db: Database,
  trustId: string,
  used: typeof usedTokens.$inferInsert,
) {
  return insertFrom(db, usedTokens, used, sql`from trusts where trusts.id = ${trustId}`);
}

/** Deletes at most `chunk` of each. */
export function deleteExpired(db: Database, now: number, chunk: number) {
  const expired = {
    keys: sql`select id from api_keys where trust_id is not null
      and expires_at <= ${now} limit ${chunk}`,
    tokens: sql`select id from runner_tokens where trust_id is not null
      and expires_at <= ${now} limit ${chunk}`,
    used: sql`select rowid from used_tokens where expires_at <= ${now} limit ${chunk}`,
  };
  return {
    keys: db
      .delete(apiKeys)
      .where(sql`${apiKeys.id} in (${expired.keys})`)
      .returning({ id: apiKeys.id }),
    tokens: db
      .delete(runnerTokens)
      .where(sql`${runnerTokens.id} in (${expired.tokens})`)
      .returning({ id: runnerTokens.id }),
    used: db
      .delete(usedTokens)
      .where(sql`used_tokens.rowid in (${expired.used})`)
      .returning({ id: usedTokens.id }),
  };
}
