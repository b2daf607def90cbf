import { type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Statements } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { apiKeys, revokedKeys } from "../api-keys/table.ts";
import { type AuditContext, recordActsFrom } from "../audit/index.ts";

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
 * The statements that revoke keys and keep their tombstones. `revoked` returns what the rate limiters
 * need. A condition in `keys` must have the same outcome in both statements.
 */
export function revokeKeys(db: Database, revocation: Revocation) {
  const { organizationId, now, actor } = revocation;
  const selected = selectedBy(revocation);
  return {
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

/** Records each key that `revokeKeys` revokes. Comes before it in the batch. */
export function recordRevocation(ctx: AuditContext, revocation: Revocation) {
  const target = { type: "api_key", id: apiKeys.id, name: apiKeys.name } as const;
  const from = sql`from ${apiKeys} where ${selectedBy(revocation)}`;
  return recordActsFrom(
    ctx,
    revocation.organizationId,
    { action: "api_key.revoked", target },
    from,
  );
}

/** Selects the IDs of a key and of all that descend from it, revoked ones included. */
export function familyOf(keyId: string): SQL {
  return descendantsOf(sql`select ${keyId}`);
}

function selectedBy({ organizationId, keys, descendants }: Revocation): SQL {
  // The plus keeps SQLite from reading all keys of the organization.
  const within = sql`+api_keys.organization_id = ${organizationId}`;
  if (!descendants) return sql`${within} and ${keys}`;
  const roots = sql`select api_keys.id from api_keys where ${within} and ${keys}`;
  return sql`${within} and api_keys.id in (${descendantsOf(roots)})`;
}

/** With the keys that `roots` selects. A key may descend from one that is already revoked. */
function descendantsOf(roots: SQL): SQL {
  return sql`with recursive family(id) as (${roots}
      union select child.id from family join api_keys as child on child.created_by_key_id = family.id
      union select child.id from family join revoked_keys as child on child.created_by_key_id = family.id)
    select id from family`;
}
