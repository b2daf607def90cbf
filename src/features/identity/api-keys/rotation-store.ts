import {
  and,
  eq,
  getTableColumns,
  gt,
  isNull,
  not,
  notExists,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { apiKeys, isAsAuthenticated, revokedKeys } from "../credentials/api-key-table.ts";
import { keepsOwnerKey } from "../credentials/index.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { trusts } from "../credentials/trust-table.ts";
import { type ApiKeyRow, KEY_COLUMNS, NEVER } from "./store.ts";

/** The key that takes the place of `old`, with the fields that differ. */
export interface Rotation {
  old: ApiKeyRow;
  /** Of the key that asks for the rotation. */
  actor: Actor;
  key: Pick<
    ApiKeyRow,
    "id" | "secretHash" | "lastFour" | "expiresAt" | "expiresByPolicy" | "isOwn" | "rotatedByKeyId"
  >;
  now: number;
}

/**
 * Inserts nothing if the old key or the caller's has changed, if the new key would outlive the one that
 * it descends from, if one that descends from it would outlive it, or if the last owner's key would expire.
 */
export function insertRotatedKey(db: Database, { old, actor, key, now }: Rotation) {
  const { expiresAt } = key;
  const lasting = expiresAt ?? NEVER;
  const callerId = actor.keyId;
  return insertFrom(
    db,
    apiKeys,
    {
      ...getTableColumns(apiKeys),
      ...key,
      keyVersion: 1,
      lastUsedAt: null,
      createdAt: now,
      createdByKeyId: parentIdOf(old),
      trustId: null,
      claims: null,
      sessionId: null,
      replacedByKeyId: null,
      version: 1,
    },
    sql`from ${apiKeys} where ${apiKeys.id} = ${old.id}
      and ${apiKeys.organizationId} = ${old.organizationId}
      and ${apiKeys.keyVersion} = ${old.keyVersion}
      and exists (select 1 from api_keys as caller where caller.id = ${callerId}
        and (${callerId} = ${old.id} or caller.expires_at is null or caller.expires_at >= ${lasting}))
      and ${isAsAuthenticated(actor)}
      and not exists (select 1 from api_keys as parent
        where parent.id = ${apiKeys.createdByKeyId} and parent.expires_at < ${lasting})
      and ${expiresAt === null ? sql`true` : mayExpire(db, old, expiresAt, now)}`,
  ).returning(KEY_COLUMNS);
}

/** Of a key that was rotated before, and expires: that of its successor, from which it descends. */
function parentIdOf({ createdByKeyId, replacedByKeyId }: ApiKeyRow): string | SQL | null {
  if (replacedByKeyId === null || createdByKeyId !== replacedByKeyId) return createdByKeyId;
  return sql`coalesce(
    (select successor.created_by_key_id from api_keys as successor where successor.id = ${createdByKeyId}),
    (select successor.created_by_key_id from revoked_keys as successor where successor.id = ${createdByKeyId}))`;
}

function mayExpire(db: Database, old: ApiKeyRow, expiresAt: number, now: number): SQL {
  return sql`${notExists(findOutliving(db, old, expiresAt))}
    and ${keepsOwnerKey(old.organizationId, { column: "id", value: replacedWith(old) }, now)}`;
}

/** Selects the IDs of the keys that end when a key is rotated: itself, its successor and predecessors. */
function replacedWith({ id, replacedByKeyId }: ApiKeyRow): SQL {
  return sql`select ${id} union all select ${replacedByKeyId ?? id}
    union all select prior.id from api_keys as prior where prior.replaced_by_key_id = ${id}`;
}

/**
 * The keys that would descend from the new key and expire later than `expiresAt`: those of the old key and of its
 * earlier successor, but those that the two replaced, and those of the trusts that they have made.
 */
export function findOutliving(
  db: Database,
  { id, replacedByKeyId }: Pick<ApiKeyRow, "id" | "replacedByKeyId">,
  expiresAt: number,
) {
  const ended = sql`(${id}, ${replacedByKeyId ?? id})`;
  const made = and(
    isNull(apiKeys.trustId),
    sql`${apiKeys.createdByKeyId} in ${ended}`,
    sql`coalesce(${apiKeys.replacedByKeyId} not in ${ended}, true)`,
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, expiresAt)),
  );
  const issued = sql`${apiKeys.trustId} in (select id from trusts where created_by_key_id in ${ended})
    and ${apiKeys.expiresAt} > ${expiresAt}`;
  return db.select({ id: apiKeys.id }).from(apiKeys).where(or(made, issued)).limit(1);
}

/** The key, if the organization would have no owner's key without it. */
export function findLastOwnerKey(db: Database, old: ApiKeyRow, now: number) {
  const lost = { column: "id", value: replacedWith(old) } as const;
  const keepsAnother = keepsOwnerKey(old.organizationId, lost, now);
  return db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, old.id), not(keepsAnother)));
}

const wasInserted = (id: string) =>
  sql`exists (select 1 from api_keys as rotated where rotated.id = ${id})`;

/**
 * What descends from the old key and its earlier successor descends from the new one. Revoked keys and what trusts have
 * issued, of which there may be any number, do so through `replaced_by_key_id`.
 */
export function carryOverDescendants(db: Database, { old, key }: Rotation) {
  const { id, replacedByKeyId } = old;
  const isCarried = (table: typeof apiKeys | typeof trusts | typeof runnerTokens) =>
    sql`${table.createdByKeyId} in (${id}, ${replacedByKeyId ?? id}) and ${table.id} <> ${key.id}
      and ${wasInserted(key.id)}`;
  const createdByKeyId = key.id;
  return {
    trusts: db.update(trusts).set({ createdByKeyId }).where(isCarried(trusts)),
    tokens: db
      .update(runnerTokens)
      .set({ createdByKeyId })
      .where(and(isCarried(runnerTokens), isNull(runnerTokens.trustId))),
    keys: db
      .update(apiKeys)
      .set({ createdByKeyId })
      .where(and(isCarried(apiKeys), isNull(apiKeys.trustId))),
  };
}

/** Before the old keys are revoked, so that their tombstones name the new one. */
export function nameSuccessor(db: Database, { old, key }: Rotation) {
  const { id, replacedByKeyId } = old;
  const replacedBy = { replacedByKeyId: key.id };
  return {
    valid: db
      .update(apiKeys)
      .set(replacedBy)
      .where(sql`${apiKeys.id} in (${id}, ${replacedByKeyId ?? id}) and ${wasInserted(key.id)}`),
    revoked:
      replacedByKeyId === null
        ? undefined
        : db
            .update(revokedKeys)
            .set(replacedBy)
            .where(sql`${revokedKeys.id} = ${replacedByKeyId} and ${wasInserted(key.id)}`),
  };
}

/** The old key descends from the new one from now on, so that revoking that revokes both. */
export function expireOldKey(db: Database, { old, key }: Rotation, until: number) {
  return db
    .update(apiKeys)
    .set({
      expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${until}), ${until})`,
      keyVersion: sql`${apiKeys.keyVersion} + 1`,
      version: nextVersion(apiKeys.version),
      createdByKeyId: key.id,
    })
    .where(and(eq(apiKeys.id, old.id), wasInserted(key.id)))
    .returning({ secretHash: apiKeys.secretHash, version: apiKeys.keyVersion });
}

/** Selects the old key, if it was rotated. */
export function whereIsRotated({ old, key }: Rotation): SQL {
  return sql`${apiKeys.id} = ${old.id} and ${wasInserted(key.id)}`;
}

/** Selects the keys that end with a rotation of the old key, if it was: its successor and predecessors. */
export function whereIsReplaced({ old, key }: Rotation): SQL {
  return sql`${apiKeys.id} in (${replacedWith(old)}) and ${apiKeys.id} <> ${old.id}
    and ${wasInserted(key.id)}`;
}
