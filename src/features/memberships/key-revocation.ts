import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Statements } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { apiKeys, revokedKeys } from "../api-keys/table.ts";
import { type AuditContext, recordActsFrom } from "../audit/index.ts";
import { runnerTokens } from "../runner-pools/table.ts";
import { sessions, signInLinks } from "../sessions/table.ts";
import { trusts } from "../trusts/table.ts";

export interface Revocation {
  organizationId: string;
  /** Selects keys by the columns of `api_keys`. */
  keys: SQL;
  /** Whether what descends from them is revoked, too: keys, trusts and runner tokens. */
  descendants: boolean;
  /** Selects the IDs of the keys whose trusts and runner tokens are revoked. Default: as above. */
  creators?: SQL;
  now: number;
  /** Absent: the service. */
  actor?: Actor | undefined;
}

/** Not of a session, which ends with it. */
const isShown = isNull(apiKeys.sessionId);

/**
 * The statements that revoke keys and keep their tombstones. `revoked` and `derivedTokens` return what
 * the rate limiters need. A condition in `keys` must have the same outcome in every statement.
 */
export function revokeKeys(db: Database, revocation: Revocation) {
  const { organizationId, now, actor } = revocation;
  const selected = selectedBy(revocation);
  const creators = creatorsOf(revocation);
  return {
    ...(creators && revokeDerived(db, organizationId, creators)),
    sessions: db.delete(sessions).where(hasKeyOf(sessions, selected)),
    signInLinks: db.delete(signInLinks).where(hasKeyOf(signInLinks, selected)),
    tombstones: insertFrom(
      db,
      revokedKeys,
      {
        id: apiKeys.id,
        organizationId,
        membershipId: apiKeys.membershipId,
        name: apiKeys.name,
        role: apiKeys.role,
        lastFour: apiKeys.lastFour,
        createdAt: apiKeys.createdAt,
        createdByKeyId: apiKeys.createdByKeyId,
        createdByMembershipId: apiKeys.createdByMembershipId,
        createdBySessionId: apiKeys.createdBySessionId,
        rotatedByKeyId: apiKeys.rotatedByKeyId,
        replacedByKeyId: apiKeys.replacedByKeyId,
        revokedAt: now,
        revokedByKeyId: actor?.keyId ?? null,
        revokedByMembershipId: actor?.membershipId ?? null,
      },
      sql`from ${apiKeys} where ${selected} and ${isShown}`,
    ),
    revoked: db.delete(apiKeys).where(selected).returning({
      id: apiKeys.id,
      secretHash: apiKeys.secretHash,
      version: apiKeys.version,
    }),
  } satisfies Statements;
}

function hasKeyOf(table: typeof sessions | typeof signInLinks, selected: SQL): SQL {
  return sql`${table.keyId} in (select api_keys.id from api_keys where ${selected})`;
}

/** The trusts and the runner tokens that were created with keys. They would outlive the keys. */
function revokeDerived(db: Database, organizationId: string, creators: SQL) {
  return {
    derivedTokens: db
      .delete(runnerTokens)
      .where(isDerived(runnerTokens, organizationId, creators))
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
    trusts: db.delete(trusts).where(isDerived(trusts, organizationId, creators)),
  };
}

type DerivedTable = typeof trusts | typeof runnerTokens;

function isDerived(table: DerivedTable, organizationId: string, creators: SQL) {
  return and(
    eq(table.organizationId, organizationId),
    sql`${table.createdByKeyId} in (${creators})`,
  );
}

/** Selects the IDs of the keys whose trusts and runner tokens are revoked. */
function creatorsOf({ organizationId, keys, descendants, creators }: Revocation): SQL | undefined {
  if (creators || !descendants) return creators;
  return descendantsOf(rootsOf(organizationId, keys));
}

/** Records what `revokeKeys` revokes. Comes before it in the batch. */
export function recordRevocation(ctx: AuditContext, revocation: Revocation) {
  const { organizationId } = revocation;
  const target = { type: "api_key", id: apiKeys.id, name: apiKeys.name } as const;
  const from = sql`from ${apiKeys} where ${selectedBy(revocation)} and ${isShown}`;
  const creators = creatorsOf(revocation);
  return {
    keys: recordActsFrom(ctx, organizationId, { action: "api_key.revoked", target }, from),
    ...(creators && recordDerived(ctx, organizationId, creators)),
  };
}

function recordDerived(ctx: AuditContext, organizationId: string, creators: SQL) {
  const trust = { type: "trust", id: trusts.id, name: trusts.name } as const;
  const token = { type: "runner_token", id: runnerTokens.id, name: runnerTokens.name } as const;
  const derivedFrom = (table: DerivedTable) =>
    sql`from ${table} where ${isDerived(table, organizationId, creators)}`;
  return {
    trusts: recordActsFrom(
      ctx,
      organizationId,
      { action: "trust.deleted", target: trust },
      derivedFrom(trusts),
    ),
    tokens: recordActsFrom(
      ctx,
      organizationId,
      { action: "runner_token.revoked", target: token },
      derivedFrom(runnerTokens),
    ),
  };
}

/**
 * Selects the IDs of a key and of all that descend from it, revoked ones included. With `successors`,
 * also of the keys that took their places by rotation: whoever has a key may have rotated it.
 */
export function familyOf(keyId: string, options: { successors: boolean }): SQL {
  return descendantsOf(sql`select ${keyId}`, options);
}

function selectedBy({ organizationId, keys, descendants }: Revocation): SQL {
  const within = isWithin(organizationId);
  if (!descendants) return sql`${within} and ${keys}`;
  return sql`${within} and api_keys.id in (${descendantsOf(rootsOf(organizationId, keys))})`;
}

function rootsOf(organizationId: string, keys: SQL): SQL {
  return sql`select api_keys.id from api_keys where ${isWithin(organizationId)} and ${keys}`;
}

/** The plus keeps SQLite from reading all keys of the organization. */
function isWithin(organizationId: string): SQL {
  return sql`+api_keys.organization_id = ${organizationId}`;
}

/** With the keys that `roots` selects. A key may descend from one that is already revoked. */
function descendantsOf(roots: SQL, { successors } = { successors: true }): SQL {
  const replacements = sql`
      union select member.replaced_by_key_id from family join api_keys as member
        on member.id = family.id where member.replaced_by_key_id is not null
      union select member.replaced_by_key_id from family join revoked_keys as member
        on member.id = family.id where member.replaced_by_key_id is not null`;
  return sql`with recursive family(id) as (${roots}
      union select child.id from family join api_keys as child on child.created_by_key_id = family.id
      union select child.id from family join revoked_keys as child on child.created_by_key_id = family.id
      ${successors ? replacements : sql``})
    select id from family`;
}
