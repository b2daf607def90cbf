import { and, eq, not, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { nextVersion } from "../../db/expected-version.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { keepsOwnerKey } from "../memberships/index.ts";
import { runnerTokens } from "../runner-pools/table.ts";
import { trusts } from "../trusts/table.ts";
import { type ApiKeyRow, KEY, NEVER } from "./store.ts";
import { apiKeys, isAsAuthenticated, KEY_EXPIRY, revokedKeys, whereKeyIsLive } from "./table.ts";

/** The key that takes the place of `old`, with the fields that differ. */
export interface Rotation {
  old: ApiKeyRow;
  /** Of the key that asks for the rotation. */
  actor: Actor;
  key: Pick<ApiKeyRow, "id" | "secretHash" | "lastFour" | "expiresAt" | "isOwn">;
  now: number;
}

/**
 * Inserts nothing if the old key or the caller's has changed, if the new key would outlive the one that
 * it descends from, if one that descends from it would outlive it, or if the last owner's key would expire.
 */
export function insertRotatedKey(db: Database, { old, actor, key, now }: Rotation) {
  const { expiresAt, ...fields } = key;
  const lasting = expiresAt ?? NEVER;
  const callerId = actor.keyId;
  const isNarrowed = sql`${apiKeys.expiresAt} = 0`;
  return insertFrom(
    db,
    apiKeys,
    {
      ...fields,
      organizationId: apiKeys.organizationId,
      membershipId: apiKeys.membershipId,
      name: apiKeys.name,
      role: apiKeys.role,
      version: 1,
      expiresAt: sql`iif(${isNarrowed}, 0, ${expiresAt})`,
      narrowedExpiresAt: sql`iif(${isNarrowed}, ${expiresAt}, null)`,
      lastUsedAt: null,
      createdAt: now,
      scopes: apiKeys.scopes,
      projectIds: apiKeys.projectIds,
      environmentIds: apiKeys.environmentIds,
      createdByKeyId: apiKeys.createdByKeyId,
      createdByMembershipId: apiKeys.createdByMembershipId,
      createdBySessionId: apiKeys.createdBySessionId,
      rotatedByKeyId: null,
      expiresByPolicy: apiKeys.expiresByPolicy,
      trustId: null,
      sessionId: null,
      replacedByKeyId: null,
      recordVersion: 1,
    },
    sql`from ${apiKeys} where ${apiKeys.id} = ${old.id}
      and ${apiKeys.organizationId} = ${old.organizationId}
      and ${apiKeys.version} = ${old.version}
      and exists (select 1 from api_keys as caller where caller.id = ${callerId}
        and (${callerId} = ${old.id} or caller.expires_at is null or caller.expires_at >= ${lasting}
          or caller.expires_at = 0
            and coalesce(caller.narrowed_expires_at, ${NEVER}) >= ${lasting}))
      and ${isAsAuthenticated(actor)}
      and not exists (select 1 from api_keys as parent
        where parent.id = ${apiKeys.createdByKeyId}
          and iif(parent.expires_at = 0, parent.narrowed_expires_at, parent.expires_at) < ${lasting})
      and ${expiresAt === null ? sql`true` : mayExpire(db, old, expiresAt, now)}`,
  ).returning(KEY);
}

function mayExpire(db: Database, old: ApiKeyRow, expiresAt: number, now: number): SQL {
  return sql`${notExists(findOutliving(db, old.id, expiresAt))}
    and ${keepsOwnerKey(old.organizationId, { column: "id", value: old.id }, now)}`;
}

/** The keys that descend from this one and expire later than `expiresAt`. */
export function findOutliving(db: Database, keyId: string, expiresAt: number) {
  return db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.createdByKeyId, keyId),
        or(sql`${KEY_EXPIRY} is null`, sql`${KEY_EXPIRY} > ${expiresAt}`),
      ),
    );
}

/** The key, if the organization would have no owner's key without it. */
export function findLastOwnerKey(
  db: Database,
  { organizationId, id }: Pick<ApiKeyRow, "organizationId" | "id">,
  now: number,
) {
  const keepsAnother = keepsOwnerKey(organizationId, { column: "id", value: id }, now);
  return db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), not(keepsAnother)));
}

const wasInserted = (id: string) =>
  sql`exists (select 1 from api_keys as rotated where rotated.id = ${id})`;

/** What descends from the old key, revoked keys included, descends from the new one. */
export function carryOverDescendants(db: Database, { old, key }: Rotation) {
  return {
    trusts: db
      .update(trusts)
      .set({ createdByKeyId: key.id })
      .where(and(eq(trusts.createdByKeyId, old.id), wasInserted(key.id))),
    tokens: db
      .update(runnerTokens)
      .set({ createdByKeyId: key.id })
      .where(and(eq(runnerTokens.createdByKeyId, old.id), wasInserted(key.id))),
    valid: db
      .update(apiKeys)
      .set({ createdByKeyId: key.id })
      .where(and(eq(apiKeys.createdByKeyId, old.id), wasInserted(key.id))),
    revoked: db
      .update(revokedKeys)
      .set({ createdByKeyId: key.id })
      .where(and(eq(revokedKeys.createdByKeyId, old.id), wasInserted(key.id))),
  };
}

/** Before the old key is revoked, so that its tombstone names the new one. */
export function nameSuccessor(db: Database, { old, key }: Rotation) {
  return db
    .update(apiKeys)
    .set({ replacedByKeyId: key.id })
    .where(and(eq(apiKeys.id, old.id), wasInserted(key.id)));
}

/** The old key descends from the new one from now on, so that revoking that revokes both. */
export function expireOldKey(db: Database, { old, key }: Rotation, until: number) {
  const earliest = sql`min(coalesce(${KEY_EXPIRY}, ${until}), ${until})`;
  return db
    .update(apiKeys)
    .set({
      expiresAt: sql`iif(${apiKeys.expiresAt} = 0, 0, ${earliest})`,
      narrowedExpiresAt: sql`iif(${apiKeys.expiresAt} = 0, ${earliest}, null)`,
      version: sql`${apiKeys.version} + 1`,
      recordVersion: nextVersion(apiKeys.recordVersion),
      createdByKeyId: key.id,
    })
    .where(and(eq(apiKeys.id, old.id), wasInserted(key.id)))
    .returning({ secretHash: apiKeys.secretHash, version: apiKeys.version });
}

/** Selects the old key, if it was rotated. */
export function whereIsRotated({ old, key }: Rotation): SQL {
  return sql`${apiKeys.id} = ${old.id} and ${wasInserted(key.id)}`;
}

/** Selects the keys that earlier rotations of the old key left to expire, once they have. */
export function whereIsLeftover({ old, key, now }: Rotation): SQL {
  return sql`${apiKeys.createdByKeyId} = ${key.id} and ${apiKeys.id} <> ${old.id}
    and ${apiKeys.membershipId} = ${old.membershipId} and ${apiKeys.name} = ${old.name}
    and not ${whereKeyIsLive(now)}`;
}
