import { and, eq, getTableColumns, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { isInLivePlace, isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import {
  apiKeys,
  KEY_AUTHORITY,
  mayCreateUntil,
  revokedKeys,
  whereKeyIsLive,
} from "../credentials/api-key-table.ts";
import { keyOwnerOf } from "../credentials/index.ts";

/** Later than every time that a request may name. */
export const NEVER = Number.MAX_SAFE_INTEGER;

export interface CreatedKey {
  row: ApiKeyRow;
  key: string;
}

interface Owned {
  /** JSON of `KeyOwner`. Undefined: not selected. */
  owner?: string | null;
}

export type ApiKeyRow = typeof apiKeys.$inferSelect & Owned;
export type RevokedKeyRow = typeof revokedKeys.$inferSelect & Owned;
/** A key, or what remains of a revoked one. */
export type KeyOrTombstone = ApiKeyRow | RevokedKeyRow;

export const KEY_COLUMNS = {
  ...getTableColumns(apiKeys),
  owner: keyOwnerOf(sql`api_keys.membership_id`, sql`api_keys.trust_id`).as("owner"),
};

const REVOKED_KEY_COLUMNS = {
  ...getTableColumns(revokedKeys),
  owner: keyOwnerOf(sql`revoked_keys.membership_id`, sql`null`).as("owner"),
};

const PRINCIPAL = {
  ...KEY_AUTHORITY,
  accountId: memberships.accountId,
  membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
  version: apiKeys.keyVersion,
  lastUsedAt: apiKeys.lastUsedAt,
};

export function findPrincipal(
  db: Database,
  { id, secretHash }: { id: string; secretHash: string },
) {
  return db
    .select(PRINCIPAL)
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .where(
      and(
        eq(apiKeys.id, id),
        eq(apiKeys.secretHash, secretHash),
        isLiveOrganization(apiKeys.organizationId),
      ),
    );
}

export function saveUse(db: Database, id: string, hour: number) {
  return db
    .update(apiKeys)
    .set({ lastUsedAt: hour })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, hour))));
}

/** Undefined: of all memberships. */
type OnlyOf = string | undefined;

export function listKeys(
  db: Database,
  organizationId: string,
  membershipId: OnlyOf,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, apiKeys.createdAt, apiKeys.id);
  return db
    .select(KEY_COLUMNS)
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        isNull(apiKeys.sessionId),
        membershipId === undefined ? undefined : eq(apiKeys.membershipId, membershipId),
        hasName(page, apiKeys.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function listRevokedKeys(
  db: Database,
  organizationId: string,
  membershipId: OnlyOf,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, revokedKeys.createdAt, revokedKeys.id);
  return db
    .select(REVOKED_KEY_COLUMNS)
    .from(revokedKeys)
    .where(
      and(
        eq(revokedKeys.organizationId, organizationId),
        membershipId === undefined ? undefined : eq(revokedKeys.membershipId, membershipId),
        hasName(page, revokedKeys.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export const within = (organizationId: string, id: string) =>
  and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.id, id), isNull(apiKeys.sessionId));

export function findKey(db: Database, organizationId: string, id: string) {
  return db.select(KEY_COLUMNS).from(apiKeys).where(within(organizationId, id));
}

/** A key, or what remains of a revoked one. */
export function findKeyOrTombstone(db: Database, organizationId: string, id: string) {
  return {
    active: findKey(db, organizationId, id),
    revoked: db
      .select(REVOKED_KEY_COLUMNS)
      .from(revokedKeys)
      .where(and(eq(revokedKeys.organizationId, organizationId), eq(revokedKeys.id, id))),
  };
}

export function findMembership(db: Database, organizationId: string, membershipId: string) {
  return db
    .select({ id: memberships.id, role: memberships.role, status: memberships.status })
    .from(memberships)
    .where(and(eq(memberships.organizationId, organizationId), eq(memberships.id, membershipId)));
}

export type Caller = Awaited<ReturnType<typeof findCaller>>[number];

/** The key of a request, with what the rules of a new key depend on. */
export function findCaller(db: Database, { keyId }: Pick<Actor, "keyId">) {
  const { expiresAt, expiresByPolicy } = apiKeys;
  const { kind } = memberships;
  return db
    .select({ expiresAt, expiresByPolicy, kind })
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .where(eq(apiKeys.id, keyId));
}

export function findExpiry(db: Database, id: string) {
  return db.select({ expiresAt: apiKeys.expiresAt }).from(apiKeys).where(eq(apiKeys.id, id));
}

export function findProjects(db: Database, organizationId: string, ids: readonly string[]) {
  return db
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), isOneOf(projects.id, ids)));
}

export function findEnvironments(
  db: Database,
  { organizationId, projectIds }: Pick<Actor, "organizationId" | "projectIds">,
  ids: readonly string[],
) {
  return db
    .select({ id: environments.id, projectId: environments.projectId })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, organizationId),
        isInLivePlace(environments),
        isOneOf(environments.id, ids),
        isOneOf(environments.projectId, projectIds),
      ),
    );
}

const KEY_POLICY = {
  maximumAgeSeconds: organizations.maxKeyAgeSeconds,
  version: organizations.version,
};

export function findMaximumAge(db: Database, organizationId: string) {
  return db.select(KEY_POLICY).from(organizations).where(eq(organizations.id, organizationId));
}

/** Changes nothing if the request expects another version, or if the maximum age is no longer `from`. */
export function setMaximumAge(
  ctx: ServiceContext,
  organizationId: string,
  { from, to, now }: { from: number | null; to: number | null; now: number },
) {
  const { maxKeyAgeSeconds, version } = organizations;
  return ctx.db
    .update(organizations)
    .set({ maxKeyAgeSeconds: to, updatedAt: now, version: nextVersion(version) })
    .where(
      and(
        eq(organizations.id, organizationId),
        hasExpectedVersion(ctx, version),
        sql`${maxKeyAgeSeconds} is ${from}`,
      ),
    )
    .returning(KEY_POLICY);
}

export function keyCountBound(membershipId: string): Bound {
  const count = sql`(select count(*) from api_keys
    where api_keys.membership_id = ${membershipId} and api_keys.trust_id is null
      and api_keys.session_id is null)`;
  return {
    what: "API keys of a membership",
    limit: LIMITS.apiKeysOfMembership.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

export function insertKey(db: Database, key: ApiKeyRow, condition: SQL = sql`true`) {
  return insertFrom(db, apiKeys, key, sql`where ${condition}`).returning();
}

/**
 * Inserts nothing if the trust was deleted meanwhile, by itself or with its membership. A rotation may
 * have replaced the key that created the trust.
 */
export function insertKeyOfTrust(db: Database, key: ApiKeyRow & { trustId: string }) {
  const row = { ...key, createdByKeyId: sql`trusts.created_by_key_id` };
  return insertFrom(db, apiKeys, row, sql`from trusts where trusts.id = ${key.trustId}`).returning(
    KEY_COLUMNS,
  );
}

/** Inserts nothing unless the key that creates it still has as much, and for as long. */
export function insertDescendant({ db, actor, clock }: ServiceContext, key: ApiKeyRow) {
  const parent = sql`select 1 from ${apiKeys} where ${apiKeys.id} = ${actor.keyId}
    and ${whereKeyIsLive(clock.now())}`;
  const condition = sql`where exists (${parent}) and ${mayCreateUntil(actor, key.expiresAt)}`;
  return insertFrom(db, apiKeys, key, condition).returning(KEY_COLUMNS);
}
