import { type Column, type SQL, sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, version } from "../../../db/columns.ts";
import { ORG_ROLES } from "../../../lib/roles.ts";
import type { Scope } from "../../../lib/scopes.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { limitsOrganizationId, organizations } from "../../tenancy/organization-table.ts";

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id")
      .notNull()
      .references(() => memberships.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    role: text("role", { enum: ORG_ROLES }).notNull(),
    /** SHA-256 of the secret, hexadecimal. It also names the key's rate limiter. */
    secretHash: text("secret_hash").notNull(),
    lastFour: text("last_four").notNull(),
    /** Increases with every change to the key's permissions. The key's rate limiter has a copy. */
    keyVersion: integer("version").notNull().default(1),
    /** The time from which the key is refused. Null: never. */
    expiresAt: time("expires_at"),
    /** To the hour. */
    lastUsedAt: time("last_used_at"),
    createdAt: createdAt(),
    /** JSON arrays. Null: all. */
    scopes: text("scopes", { mode: "json" }).$type<readonly Scope[]>(),
    projectIds: text("project_ids", { mode: "json" }).$type<readonly string[]>(),
    environmentIds: text("environment_ids", { mode: "json" }).$type<readonly string[]>(),
    /**
     * The key that it descends from, which may be revoked: the one that made it, or the one that has
     * taken the place of that by a rotation. Null: none. Of a trust: the one that made it.
     */
    createdByKeyId: id("created_by_key_id"),
    createdByMembershipId: id("created_by_membership_id"),
    /** The key that made it, or has founded its organization: no rotation changes it. Null: none. */
    issuedByKeyId: id("issued_by_key_id"),
    /** The session that it was created in, which may have ended. Null: none. */
    createdBySessionId: id("created_by_session_id"),
    /** The other key that made it by a rotation. It is in the family of that key, too. */
    rotatedByKeyId: id("rotated_by_key_id"),
    /** The key that has taken its place by a rotation. */
    replacedByKeyId: id("replaced_by_key_id"),
    /** Of a key that a CI job received for its own token. It does not count toward the quota. */
    trustId: id("trust_id"),
    /** JSON: the claims that its trust has verified, as far as rules compare them or deployments show them. */
    claims: text("claims"),
    /**
     * The session that a sign-in made the key for. Nobody has its secret, no list shows it, it does not
     * count toward the quota, and it is no owner's last key.
     */
    sessionId: id("session_id"),
    /** Whether only the membership itself has made it and the keys that it descends from. */
    isOwn: integer("is_own", { mode: "boolean" }).notNull().default(false),
    /** Whether it expires only because of the organization's maximum age of keys. */
    expiresByPolicy: integer("expires_by_policy", { mode: "boolean" }).notNull().default(false),
    version: version(),
  },
  (table) => [
    uniqueIndex("api_keys_secret_hash").on(table.secretHash),
    index("api_keys_list").on(table.organizationId, table.createdAt, table.id),
    // An organization can have 100,000 keys of trusts.
    index("api_keys_name").on(table.organizationId, table.name, table.createdAt, table.id),
    index("api_keys_without_trust").on(table.organizationId).where(sql`trust_id is null`),
    index("api_keys_membership").on(table.membershipId),
    index("api_keys_owner_without_trust")
      .on(table.membershipId)
      .where(sql`role = 'owner' and trust_id is null`),
    index("api_keys_created_by").on(table.createdByKeyId),
    index("api_keys_created_by_without_trust")
      .on(table.createdByKeyId)
      .where(sql`trust_id is null`),
    index("api_keys_issued_by").on(table.issuedByKeyId).where(sql`issued_by_key_id is not null`),
    index("api_keys_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
    index("api_keys_rotated_by").on(table.rotatedByKeyId).where(sql`rotated_by_key_id is not null`),
    index("api_keys_replaced_by")
      .on(table.replacedByKeyId)
      .where(sql`replaced_by_key_id is not null`),
    index("api_keys_trust").on(table.trustId, table.expiresAt).where(sql`trust_id is not null`),
    index("api_keys_session").on(table.sessionId).where(sql`session_id is not null`),
    index("api_keys_trust_expires").on(table.expiresAt).where(sql`trust_id is not null`),
  ],
);

export function whereKeyIsLive(now: number): SQL {
  return sql`(${apiKeys.expiresAt} is null or ${apiKeys.expiresAt} > ${now})`;
}

/** The key of a request, as it was when it was authenticated. */
interface AuthenticatedKey {
  keyId: string;
  /** The session that the request was sent with. Absent: the key itself. */
  session?: { id: string };
  scopes: readonly Scope[] | null;
  projectIds: readonly string[] | null;
  environmentIds: readonly string[] | null;
}

/** Whether the key of a request can still access what it could when it was authenticated. */
export function isAsAuthenticated(key: AuthenticatedKey): SQL {
  return sql`exists (select 1 from ${apiKeys} where ${isUnchanged(key)})`;
}

/**
 * Whether the key of a request may create a credential that lasts until `end`: it can still access what
 * it could, and lasts as long.
 * @param end Null: forever.
 */
export function mayCreateUntil(key: AuthenticatedKey, end: number | null): SQL {
  const lasts = end === null ? sql`false` : sql`${apiKeys.expiresAt} >= ${end}`;
  return sql`exists (select 1 from ${apiKeys} where ${isUnchanged(key)}
    and (${apiKeys.expiresAt} is null or ${lasts}))`;
}

/** Selects the IDs of the keys that a key has made, without those of its trusts, of which there may be many. */
export function keysMadeWith(keyId: string): SQL {
  return sql`select id from api_keys where created_by_key_id = ${keyId} and trust_id is null`;
}

function isUnchanged(key: AuthenticatedKey): SQL {
  const { keyId, session, scopes, projectIds, environmentIds } = key;
  const hasSession = session
    ? sql`exists (select 1 from sessions where sessions.id = ${session.id})`
    : sql`true`;
  const isSame = (column: Column, value: readonly string[] | null) =>
    sql`json(${column}) is json(${value && JSON.stringify(value)})`;
  return sql`${apiKeys.id} = ${keyId} and ${isSame(apiKeys.scopes, scopes)}
    and ${isSame(apiKeys.projectIds, projectIds)}
    and ${isSame(apiKeys.environmentIds, environmentIds)} and ${hasSession}`;
}

/** Of a key, for its `Actor` (see `toActor`), and the consumer of its `Principal`. */
export const KEY_AUTHORITY = {
  keyId: apiKeys.id,
  organizationId: apiKeys.organizationId,
  membershipId: apiKeys.membershipId,
  consumerId: sql<string>`coalesce(${apiKeys.trustId}, ${apiKeys.membershipId})`.as("consumer_id"),
  keyRole: apiKeys.role,
  scopes: apiKeys.scopes,
  projectIds: apiKeys.projectIds,
  environmentIds: apiKeys.environmentIds,
  isOwnKey: apiKeys.isOwn,
  createdByKeyId: apiKeys.createdByKeyId,
  createdByMembershipId: apiKeys.createdByMembershipId,
  expiresAt: apiKeys.expiresAt,
  expiresByPolicy: apiKeys.expiresByPolicy,
  limitsOrganizationId: limitsOrganizationId(apiKeys.organizationId),
};

/** What remains of a revoked key, so that its name and its descendants are known. */
export const revokedKeys = sqliteTable(
  "revoked_keys",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id").notNull(),
    name: text("name").notNull(),
    role: text("role", { enum: ORG_ROLES }).notNull(),
    lastFour: text("last_four").notNull(),
    createdAt: createdAt(),
    createdByKeyId: id("created_by_key_id"),
    createdByMembershipId: id("created_by_membership_id"),
    issuedByKeyId: id("issued_by_key_id"),
    createdBySessionId: id("created_by_session_id"),
    rotatedByKeyId: id("rotated_by_key_id"),
    replacedByKeyId: id("replaced_by_key_id"),
    revokedAt: time("revoked_at").notNull(),
    /** Null: by the service, or by an operator. */
    revokedByKeyId: id("revoked_by_key_id"),
    revokedByMembershipId: id("revoked_by_membership_id"),
  },
  (table) => [
    index("revoked_keys_list").on(table.organizationId, table.createdAt, table.id),
    // No quota bounds the number of revoked keys.
    index("revoked_keys_name").on(table.organizationId, table.name, table.createdAt, table.id),
    index("revoked_keys_membership").on(table.membershipId),
    index("revoked_keys_created_by").on(table.createdByKeyId),
    index("revoked_keys_issued_by")
      .on(table.issuedByKeyId)
      .where(sql`issued_by_key_id is not null`),
    index("revoked_keys_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
    index("revoked_keys_rotated_by")
      .on(table.rotatedByKeyId)
      .where(sql`rotated_by_key_id is not null`),
    index("revoked_keys_replaced_by")
      .on(table.replacedByKeyId)
      .where(sql`replaced_by_key_id is not null`),
  ],
);
