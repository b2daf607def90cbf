import { type SQL, sql } from "drizzle-orm";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { type AuditContext, writeAuditFrom } from "../../housekeeping/audit/index.ts";
import { apiKeys } from "./api-key-table.ts";
import { endSessions } from "./end-sessions.ts";
import { type FamilyReach, familyTable } from "./family.ts";
import { invitations } from "./invitation-table.ts";
import { isShown, type Revocation, revokeSelected } from "./key-revocation.ts";
import { isInPart, openPart, PART_SIZE } from "./revocation-part.ts";
import { runnerTokens } from "./runner-token-table.ts";
import { sessions, signInLinks } from "./session-table.ts";
import { trusts } from "./trust-table.ts";

export interface FamilyRevocation extends Omit<Revocation, "keys"> {
  /** Selects the IDs of keys and sessions of the organization. */
  roots: SQL;
  reach: FamilyReach;
  /** Whether its members in other organizations end, too. */
  isEverywhere: boolean;
  /** Nothing ends unless it holds. It may use `FAMILY_MEMBERS`. */
  condition?: SQL;
}

/** Selects the IDs of a family in the conditions of its revocation. */
export const FAMILY_MEMBERS = sql`select id from family_member`;

/**
 * The statements that end the part that `openFamilyPart` has opened: keys, runner tokens, trusts, invitations, sessions and
 * sign-in links. `versions` are of keys that stay, whose sessions have ended.
 */
export function endPart(db: Database, { now, actor }: FamilyRevocation) {
  const endedKeys = sql`select ${sessions.keyId} from ${sessions} where ${isInPart(sessions)}`;
  return {
    tokens: db
      .delete(runnerTokens)
      .where(isInPart(runnerTokens))
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
    trusts: db.delete(trusts).where(isInPart(trusts)),
    invitations: db.delete(invitations).where(isInPart(invitations)),
    signInLinks: db.delete(signInLinks).where(isInPart(signInLinks)),
    versions: db
      .update(apiKeys)
      .set({ keyVersion: sql`${apiKeys.keyVersion} + 1` })
      .where(sql`${apiKeys.id} in (${endedKeys}) and not (${isInPart(apiKeys)})`)
      .returning({ secretHash: apiKeys.secretHash, version: apiKeys.keyVersion }),
    sessions: endSessions(db, isInPart(sessions), now),
    ...revokeSelected(db, isInPart(apiKeys), { now, actor }),
  } satisfies Statements;
}

/**
 * Opens a part of a family, with everything that it has made. Its roots are in the last part: while they exist, a
 * revocation that was interrupted can be repeated.
 */
export function openFamilyPart(db: Database, revocation: FamilyRevocation) {
  const { roots, organizationId, reach, condition = sql`true` } = revocation;
  const some = (turn: number, table: EndingTable, isEnding: SQL) =>
    sql`select id, ${sql.raw(`${turn}`)} as turn from (
      select distinct made.id ${eachMember(revocation, table, isEnding)} limit ${PART_SIZE + 1}) as selected`;
  const made = (table: MadeTable) => some(0, table, sql`(${sql.join(makersOf(table), sql` or `)})`);
  const isMember = sql`made.id = member.id`;
  const isRoot = sql`member.id in (select id from root)`;
  // Two levels, because D1 permits five selects in a compound.
  return openPart(db, {
    prefix: sql`${familyTable(roots, organizationId, reach)},
      family_member(id) as materialized (select id from family where is_reached)`,
    credentials: sql`${made(runnerTokens)}
      union all ${made(trusts)}
      union all ${made(invitations)}
      union all ${made(signInLinks)}
      union all select id, turn from (
        ${some(1, sessions, sql`(${isMember} or made.key_id = member.id)`)}
        union all ${some(1, apiKeys, sql`${isMember} and not ${isRoot}`)}
        union all ${some(2, apiKeys, sql`${isMember} and ${isRoot}`)}) as selected`,
    condition,
  });
}

/** The cross join reads the family first. */
function eachMember({ isEverywhere }: FamilyRevocation, table: EndingTable, isEnding: SQL): SQL {
  const isWithin = isEverywhere ? sql`true` : sql`+made.organization_id = (select id from home)`;
  return sql`from family_member as member cross join ${table} as made on ${isEnding} and ${isWithin}`;
}

/** Audits what a part ends, each in its organization. Comes before `endPart` in the batch. */
export function auditPart(ctx: AuditContext, { organizationId }: FamilyRevocation) {
  const audit = (
    act: Parameters<typeof writeAuditFrom>[2],
    table: Exclude<EndingTable, typeof signInLinks>,
    condition = sql`true`,
  ) =>
    writeAuditFrom(
      ctx,
      organizationId,
      { ...act, organizationOfTarget: table.organizationId },
      sql`from ${table} where ${isInPart(table)} and ${condition}`,
    );
  return {
    keys: audit(
      {
        action: "api_key.revoked",
        target: { type: "api_key", id: apiKeys.id, name: apiKeys.name },
      },
      apiKeys,
      isShown,
    ),
    trusts: audit(
      { action: "trust.deleted", target: { type: "trust", id: trusts.id, name: trusts.name } },
      trusts,
    ),
    tokens: audit(
      {
        action: "runner_token.revoked",
        target: { type: "runner_token", id: runnerTokens.id, name: runnerTokens.name },
      },
      runnerTokens,
    ),
    invitations: audit(
      {
        action: "invitation.revoked",
        target: { type: "invitation", id: invitations.id, name: null },
      },
      invitations,
    ),
    sessions: audit(
      { action: "session.revoked", target: { type: "session", id: sessions.id, name: null } },
      sessions,
    ),
  };
}

type MadeTable = typeof runnerTokens | typeof trusts | typeof invitations | typeof signInLinks;
type EndingTable = MadeTable | typeof sessions | typeof apiKeys;

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
