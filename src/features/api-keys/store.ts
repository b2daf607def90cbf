import { and, eq, getTableColumns, isNull, lt, or, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { compileSelect } from "../../db/compiled-select.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { keepsOwnerKey } from "../memberships/index.ts";
import { memberships } from "../memberships/table.ts";
import type { Bound } from "../usage/index.ts";
import { apiKeys, KEY_AUTHORITY, KEY_EXPIRES_AT } from "./table.ts";

export interface CreatedKey {
  row: ApiKeyRow;
  key: string;
}

/** `narrowedExpiresAt` is only for the database: `expiresAt` is the time at which the key expires. */
export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, "narrowedExpiresAt">;

const { narrowedExpiresAt: _, ...COLUMNS } = getTableColumns(apiKeys);
const KEY = { ...COLUMNS, expiresAt: KEY_EXPIRES_AT };

const PRINCIPAL = {
  ...KEY_AUTHORITY,
  accountId: memberships.accountId,
  membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
  version: apiKeys.version,
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
    .select(KEY)
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findKey(db: Database, organizationId: string, id: string) {
  return db
    .select(KEY)
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
  const count = sql`(select count(*) from api_keys where api_keys.membership_id = ${membershipId}
    and api_keys.trust_id is null)`;
  return {
    what: "API keys of a membership",
    limit: LIMITS.apiKeysOfMembership.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** A key that is narrowed, or of a trust, expires in `narrowed_expires_at`. */
export function insertKey(db: Database, key: ApiKeyRow) {
  const isNarrowed = key.scopes || key.projectIds || key.environmentIds || key.trustId;
  const expiry = isNarrowed ? { expiresAt: 0, narrowedExpiresAt: key.expiresAt } : {};
  return db
    .insert(apiKeys)
    .values({ ...key, ...expiry })
    .returning(KEY);
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
