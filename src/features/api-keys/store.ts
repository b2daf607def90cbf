import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { compileSelect } from "../../db/compiled-select.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { keepsOwnerKey } from "../memberships/index.ts";
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
