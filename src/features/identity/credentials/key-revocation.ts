import { isNull, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { type AuditContext, writeAuditFrom } from "../../housekeeping/audit/index.ts";
import { apiKeys, revokedKeys } from "./api-key-table.ts";
import { endSessions } from "./end-sessions.ts";
import { invitations } from "./invitation-table.ts";
import { runnerTokens } from "./runner-token-table.ts";
import { sessions, signInLinks } from "./session-table.ts";
import { trusts } from "./trust-table.ts";

export interface Revocation {
  organizationId: string;
  /** Selects keys by the columns of `api_keys`. */
  keys: SQL;
  now: number;
  /** Absent: the service. */
  actor?: Actor | undefined;
}

export interface FamilyRevocation extends Omit<Revocation, "keys"> {
  /** Selects the IDs of a family, see `familyOf`. */
  family: SQL;
  /** Whether its members in other organizations end, too. */
  isEverywhere: boolean;
}

/** Not of a session, which ends with it. */
const isShown = isNull(apiKeys.sessionId);

/**
 * The statements that revoke keys and keep their tombstones, and end their sessions and sign-in links.
 * A condition in `keys` must have the same outcome in every statement.
 */
export function revokeKeys(db: Database, { organizationId, keys, now, actor }: Revocation) {
  // The plus keeps SQLite from reading all keys of the organization.
  const selected = sql`+api_keys.organization_id = ${organizationId} and ${keys}`;
  const hasSelectedKey = sql`key_id in (select api_keys.id from api_keys where ${selected})`;
  return {
    sessions: endSessions(db, hasSelectedKey, now),
    signInLinks: db.delete(signInLinks).where(hasSelectedKey),
    ...revokeSelected(db, selected, { now, actor }),
  } satisfies Statements;
}

/**
 * Like `revokeKeys`, for a family with everything that it has made: runner tokens, trusts, invitations,
 * sessions and sign-in links. `versions` are of keys that stay, whose sessions have ended.
 */
export function endFamily(db: Database, revocation: FamilyRevocation) {
  const { now, actor } = revocation;
  const selected = selectedKeys(revocation);
  const ended = endedSessions(revocation);
  const endedKeys = sql`select ${sessions.keyId} from ${sessions} where ${ended}`;
  return {
    tokens: db
      .delete(runnerTokens)
      .where(isMadeBy(revocation, runnerTokens))
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
    trusts: db.delete(trusts).where(isMadeBy(revocation, trusts)),
    invitations: db.delete(invitations).where(isMadeBy(revocation, invitations)),
    signInLinks: db.delete(signInLinks).where(isMadeBy(revocation, signInLinks)),
    versions: db
      .update(apiKeys)
      .set({ keyVersion: sql`${apiKeys.keyVersion} + 1` })
      .where(sql`${apiKeys.id} in (${endedKeys}) and not (${selected})`)
      .returning({ secretHash: apiKeys.secretHash, version: apiKeys.keyVersion }),
    sessions: endSessions(db, ended, now),
    ...revokeSelected(db, selected, { now, actor }),
  } satisfies Statements;
}

function revokeSelected(
  db: Database,
  selected: SQL,
  { now, actor }: Pick<Revocation, "now" | "actor">,
) {
  return {
    tombstones: insertFrom(
      db,
      revokedKeys,
      {
        id: apiKeys.id,
        organizationId: apiKeys.organizationId,
        membershipId: apiKeys.membershipId,
        name: apiKeys.name,
        role: apiKeys.role,
        lastFour: apiKeys.lastFour,
        createdAt: apiKeys.createdAt,
        createdByKeyId: apiKeys.createdByKeyId,
        createdByMembershipId: apiKeys.createdByMembershipId,
        issuedByKeyId: apiKeys.issuedByKeyId,
        createdBySessionId: apiKeys.createdBySessionId,
        rotatedByKeyId: apiKeys.rotatedByKeyId,
        replacedByKeyId: apiKeys.replacedByKeyId,
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

/** Audits what `endFamily` ends, each in its organization. Comes before it in the batch. */
export function auditFamilyRevocation(ctx: AuditContext, revocation: FamilyRevocation) {
  const { organizationId } = revocation;
  const audit = (act: Parameters<typeof writeAuditFrom>[2], from: SQL) =>
    writeAuditFrom(ctx, organizationId, act, from);
  const madeFrom = (table: MadeTable) => sql`from ${table} where ${isMadeBy(revocation, table)}`;
  return {
    keys: audit(
      {
        action: "api_key.revoked",
        target: { type: "api_key", id: apiKeys.id, name: apiKeys.name },
        organizationOfTarget: apiKeys.organizationId,
      },
      sql`from ${apiKeys} where ${selectedKeys(revocation)} and ${isShown}`,
    ),
    trusts: audit(
      {
        action: "trust.deleted",
        target: { type: "trust", id: trusts.id, name: trusts.name },
        organizationOfTarget: trusts.organizationId,
      },
      madeFrom(trusts),
    ),
    tokens: audit(
      {
        action: "runner_token.revoked",
        target: { type: "runner_token", id: runnerTokens.id, name: runnerTokens.name },
        organizationOfTarget: runnerTokens.organizationId,
      },
      madeFrom(runnerTokens),
    ),
    invitations: audit(
      {
        action: "invitation.revoked",
        target: { type: "invitation", id: invitations.id, name: null },
        organizationOfTarget: invitations.organizationId,
      },
      madeFrom(invitations),
    ),
    sessions: audit(
      {
        action: "session.revoked",
        target: { type: "session", id: sessions.id, name: null },
        organizationOfTarget: sessions.organizationId,
      },
      sql`from ${sessions} where ${endedSessions(revocation)}`,
    ),
  };
}

type MadeTable = typeof runnerTokens | typeof trusts | typeof invitations | typeof signInLinks;

/** Whether a family has made the row of the table. */
function isMadeBy(revocation: FamilyRevocation, table: MadeTable): SQL {
  return within(revocation, table, sql`${table.id} in (${madeBy(revocation.family, table)})`);
}

/** Selects the IDs of the rows of a table that a family has made. The cross join reads the family first. */
export function madeBy(family: SQL, table: MadeTable): SQL {
  const branches = makersOf(table).map(
    (isMaker) => sql`select made.id from member cross join ${table} as made on ${isMaker}`,
  );
  return sql`with member(id) as (${family}) ${sql.join(branches, sql` union `)}`;
}

/** Earlier releases do not write `issued_by_key_id`. */
function makersOf(table: MadeTable): SQL[] {
  const bySession = sql`made.created_by_session_id = member.id`;
  if (table === signInLinks) return [bySession, sql`made.key_id = member.id`];
  if (table === invitations) return [bySession, sql`made.created_by_key_id = member.id`];
  const byKey = [
    bySession,
    sql`made.issued_by_key_id = member.id`,
    sql`made.created_by_key_id = member.id and made.issued_by_key_id is null`,
  ];
  return table === runnerTokens ? [...byKey, sql`made.rotated_by_key_id = member.id`] : byKey;
}

function selectedKeys(revocation: FamilyRevocation): SQL {
  return within(revocation, apiKeys, sql`${apiKeys.id} in (${revocation.family})`);
}

function endedSessions(revocation: FamilyRevocation): SQL {
  const { family } = revocation;
  const isEnded = sql`(${sessions.id} in (${family}) or ${sessions.keyId} in (${family}))`;
  return within(revocation, sessions, isEnded);
}

function within(
  { organizationId, isEverywhere }: FamilyRevocation,
  table: MadeTable | typeof apiKeys | typeof sessions,
  condition: SQL,
): SQL {
  return isEverywhere
    ? condition
    : sql`${condition} and +${table.organizationId} = ${organizationId}`;
}
