import { getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { type AuditContext, writeAuditFrom } from "../../housekeeping/audit/index.ts";
import { apiKeys, revokedKeys } from "./api-key-table.ts";
import { endSessions } from "./end-sessions.ts";
import { signInLinks } from "./session-table.ts";

export interface Revocation {
  organizationId: string;
  /** Selects keys by the columns of `api_keys`. */
  keys: SQL;
  now: number;
  /** Absent: the service. */
  actor?: Actor | undefined;
}

/** Not of a session, which ends with it. */
export const isShown = isNull(apiKeys.sessionId);

/**
 * The statements that revoke keys and keep their tombstones, and end their sessions and sign-in links.
 * A condition in `keys` must have the same outcome in every statement.
 */
export function revokeKeys(db: Database, { organizationId, keys, ...by }: Revocation) {
  // The plus keeps SQLite from reading all keys of the organization.
  return revokeKeysAnywhere(db, sql`+api_keys.organization_id = ${organizationId} and ${keys}`, by);
}

/** Like `revokeKeys`, for keys of several organizations. */
export function revokeKeysAnywhere(
  db: Database,
  selected: SQL,
  by: Pick<Revocation, "now" | "actor">,
) {
  const hasSelectedKey = sql`key_id in (select api_keys.id from api_keys where ${selected})`;
  return {
    sessions: endSessions(db, hasSelectedKey, by.now),
    signInLinks: db.delete(signInLinks).where(hasSelectedKey),
    ...revokeSelected(db, selected, by),
  } satisfies Statements;
}

export function revokeSelected(
  db: Database,
  selected: SQL,
  { now, actor }: Pick<Revocation, "now" | "actor">,
) {
  return {
    tombstones: insertFrom(
      db,
      revokedKeys,
      {
        ...getTableColumns(apiKeys),
        revokedAt: now,
        revokedByKeyId: ofOrganization(actor, actor?.keyId),
        revokedByMembershipId: ofOrganization(actor, actor?.membershipId),
      },
      sql`from ${apiKeys} where ${selected} and ${isShown}`,
    ),
    revoked: db.delete(apiKeys).where(selected).returning({
      id: apiKeys.id,
      secretHash: apiKeys.secretHash,
      version: apiKeys.keyVersion,
    }),
  } satisfies Statements;
}

/** Another organization does not learn who revoked its keys. */
function ofOrganization(actor: Actor | undefined, id: string | undefined) {
  if (!actor || id === undefined) return null;
  return sql`iif(${apiKeys.organizationId} = ${actor.organizationId}, ${id}, null)`;
}

/** Audits what `revokeKeys` revokes. Comes before it in the batch. */
export function auditRevocation(ctx: AuditContext, { organizationId, keys }: Revocation) {
  const target = { type: "api_key", id: apiKeys.id, name: apiKeys.name } as const;
  const from = sql`from ${apiKeys} where +api_keys.organization_id = ${organizationId}
    and ${keys} and ${isShown}`;
  return writeAuditFrom(ctx, organizationId, { action: "api_key.revoked", target }, from);
}
