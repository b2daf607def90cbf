import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Statements } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { runnerTokens } from "../runner-pools/table.ts";
import { trusts, usedTokens } from "../trusts/table.ts";
import { apiKeys, revokedKeys } from "./table.ts";

export interface Revocation {
  organizationId: string;
  /** Selects keys by the columns of `api_keys`. */
  keys: SQL;
  /** Whether the keys that descend from them are revoked, too. */
  descendants: boolean;
  now: number;
  /** Absent: the service. */
  actor?: Actor | undefined;
}

/**
 * The statements that revoke keys and keep their tombstones. `revoked` and `derivedTokens` return what
 * the rate limiters need. A condition in `keys` must have the same outcome in every statement.
 */
export function revokeKeys(db: Database, revocation: Revocation) {
  const { organizationId, now, actor } = revocation;
  const selected = sql`${apiKeys.organizationId} = ${organizationId}
    and ${apiKeys.id} in (${selectKeys(revocation)})`;
  return {
    ...(revocation.descendants ? revokeDerived(db, organizationId, selectKeys(revocation)) : {}),
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
        revokedAt: now,
        revokedByKeyId: actor?.keyId ?? null,
        revokedByMembershipId: actor?.membershipId ?? null,
      },
      sql`from ${apiKeys} where ${selected}`,
    ),
    revoked: db.delete(apiKeys).where(selected).returning({
      id: apiKeys.id,
      secretHash: apiKeys.secretHash,
      version: apiKeys.version,
    }),
  } satisfies Statements;
}

/** The trusts and the runner tokens that were created with keys. They would outlive the keys. */
function revokeDerived(db: Database, organizationId: string, keys: SQL) {
  const isDerived = (table: typeof trusts | typeof runnerTokens) =>
    and(eq(table.organizationId, organizationId), sql`${table.createdByKeyId} in (${keys})`);
  const derived = db.select({ id: trusts.id }).from(trusts).where(isDerived(trusts));
  return {
    derivedTokens: db.delete(runnerTokens).where(isDerived(runnerTokens)).returning({
      secretHash: runnerTokens.secretHash,
      version: runnerTokens.version,
    }),
    usedTokens: db.delete(usedTokens).where(inArray(usedTokens.trustId, derived)),
    trusts: db.delete(trusts).where(isDerived(trusts)),
  };
}

/** A descendant may descend from a key that is already revoked. */
function selectKeys({ organizationId, keys, descendants }: Revocation): SQL {
  const roots = sql`select api_keys.id from api_keys
    where ${eq(apiKeys.organizationId, organizationId)} and ${keys}`;
  if (!descendants) return roots;
  return sql`with recursive family(id) as (${roots}
      union select child.id from family join api_keys as child on child.created_by_key_id = family.id
      union select child.id from family join revoked_keys as child on child.created_by_key_id = family.id)
    select id from family`;
}
