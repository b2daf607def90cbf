import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { compileSelect } from "../../db/compiled-select.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { memberships } from "../memberships/table.ts";
import type { Bound } from "../usage/index.ts";
import { apiKeys } from "./table.ts";

export interface CreatedKey {
  row: ApiKeyRow;
  key: string;
}

export type ApiKeyRow = typeof apiKeys.$inferSelect;
export type NewApiKey = typeof apiKeys.$inferInsert;

const PRINCIPAL = {
  keyId: apiKeys.id,
  organizationId: apiKeys.organizationId,
  membershipId: apiKeys.membershipId,
  accountId: memberships.accountId,
  keyRole: apiKeys.role,
  membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
  version: apiKeys.version,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
};

export const findPrincipal = compileSelect(PRINCIPAL, (db) =>
  db
    .select(PRINCIPAL)
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .where(
      and(
        eq(apiKeys.id, sql.placeholder("id")),
        eq(apiKeys.secretHash, sql.placeholder("secretHash")),
      ),
    ),
);

export function recordUse(db: Database, id: string, hour: number) {
  return db
    .update(apiKeys)
    .set({ lastUsedAt: hour })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, hour))));
}

export function listKeys(db: Database, organizationId: string, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, apiKeys.createdAt, apiKeys.id);
  return db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findKey(db: Database, organizationId: string, id: string) {
  return db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.id, id)));
}

export function findMembershipRole(db: Database, organizationId: string, membershipId: string) {
  return db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organizationId, organizationId), eq(memberships.id, membershipId)));
}

export function keyCountBound(membershipId: string): Bound {
  const count = sql`(select count(*) from api_keys where api_keys.membership_id = ${membershipId})`;
  return {
    what: "API keys of a membership",
    limit: LIMITS.apiKeysOfMembership.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

export function insertKey(db: Database, key: NewApiKey) {
  return db.insert(apiKeys).values(key).returning();
}

/** Deletes nothing if the organization would lose its last owner's key. */
export function deleteKey(db: Database, organizationId: string, id: string, now: number) {
  return db
    .delete(apiKeys)
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        eq(apiKeys.id, id),
        keepsOwnerKey(organizationId, { column: "id", value: id }, now),
      ),
    )
    .returning({ secretHash: apiKeys.secretHash, version: apiKeys.version });
}

/**
 * Changes nothing unless `condition` holds, by default that the previous statement of the batch has
 * changed a row.
 */
export function incrementKeyVersions(
  db: Database,
  organizationId: string,
  membershipId: string,
  condition: SQL = sql`changes() > 0`,
) {
  return db
    .update(apiKeys)
    .set({ version: sql`${apiKeys.version} + 1` })
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        eq(apiKeys.membershipId, membershipId),
        condition,
      ),
    )
    .returning({ secretHash: apiKeys.secretHash, version: apiKeys.version });
}

/**
 * Whether the organization can do without the `lost` keys: none of them is an owner's, or an owner
 * has another key with the role `owner`. One that expires does not count as another.
 */
export function keepsOwnerKey(
  organizationId: string,
  lost: { column: "id" | "membership_id"; value: string },
  now: number,
): SQL {
  const column = sql.raw(lost.column);
  const ownerKeys = sql`api_keys as owner_key join memberships as owner
    on owner.id = owner_key.membership_id and owner.role = 'owner'
    where owner_key.organization_id = ${organizationId} and owner_key.role = 'owner'`;
  return sql`(not exists (select 1 from ${ownerKeys} and owner_key.${column} = ${lost.value}
      and (owner_key.expires_at is null or owner_key.expires_at > ${now}))
    or exists (select 1 from ${ownerKeys} and owner_key.${column} <> ${lost.value}
      and owner_key.expires_at is null))`;
}
