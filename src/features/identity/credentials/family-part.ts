import { and, type SQL, sql } from "drizzle-orm";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { type AuditContext, writeAuditFrom } from "../../housekeeping/audit/index.ts";
import { apiKeys } from "./api-key-table.ts";
import { endSessions } from "./end-sessions.ts";
import {
  type FamilyReach,
  familyTable,
  familyWays,
  isWhole,
  nodesTable,
  unionAll,
} from "./family.ts";
import { MEMBER, type Members } from "./family-steps.ts";
import { invitations } from "./invitation-table.ts";
import { isShown, type Revocation, revokeSelected } from "./key-revocation.ts";
import { keepsOwnerKey } from "./member-keys.ts";
import { isInPart, openPart, PART_SIZE } from "./revocation-part.ts";
import { runnerTokens } from "./runner-token-table.ts";
import { sessions, signInLinks } from "./session-table.ts";
import { trusts } from "./trust-table.ts";

export interface FamilyRevocation extends Omit<Revocation, "keys"> {
  /** The IDs of keys, of a session, or of a membership of the organization. */
  roots: readonly string[];
  reach: FamilyReach;
  /** Whether its members in other organizations end, too. */
  isEverywhere: boolean;
  /** Whether the audit log has an entry of each credential. */
  isAudited: boolean;
  /** By default, it ends in any case. */
  condition?: FamilyCondition;
}

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

/** Selects the members that are valid, or have made what is. */
export function selectEnding(db: Database, revocation: FamilyRevocation, members: Members) {
  const has = ([table, isEnding]: readonly [EndingTable, SQL]) =>
    sql`exists (select 1 from ${table} as made where ${isEnding} and ${isWithin(revocation)})`;
  return db
    .select({
      ...MEMBER,
      isOwner: sql<number>`item.is_owner`.as("is_owner"),
    })
    .from(
      sql`(${nodesTable(members, revocation.organizationId)}, ${FAMILY_MEMBER}
        select id, degree, ${IS_OWNER} as is_owner from family_member as member
        where ${sql.join(ENDINGS.map(has), sql` or `)}) as item`,
    );
}

export type EndingMember = Awaited<ReturnType<typeof selectEnding>>[number];

/** Whether a member is a key with the role `owner`, and not of a trust. */
const IS_OWNER = sql`exists (select 1 from api_keys where id = member.id and role = 'owner' and trust_id is null)`;

/** The family of some members, as far as one statement finds it. */
export interface FamilyPart {
  members: Members;
  /** Whether it ends only if that is the whole family, and fits in one part. */
  isWhole: boolean;
  /** The IDs of owners' keys that end before or after it. */
  owners?: readonly string[];
}

/**
 * What must hold for a part to end.
 * @param lost Selects the IDs of the keys that end with the family.
 * @param isFirst Whether nothing of it has ended yet.
 */
export type FamilyCondition = (lost: SQL, isFirst: boolean) => SQL;

/** That an owner's key remains. */
export function keepsOwner({ organizationId, now }: FamilyRevocation): FamilyCondition {
  return (lost) => keepsOwnerKey(organizationId, { column: "id", value: lost }, now);
}

/** Opens a part with what is valid of the family of its members, some of it if that is much. */
export function openFamilyPart(
  db: Database,
  revocation: FamilyRevocation,
  { members, isWhole: mustBeWhole, owners = [] }: FamilyPart,
) {
  const { organizationId, reach, condition = () => sql`true` } = revocation;
  const ways = familyWays(reach);
  const lost = sql`select id from family_member union select value from json_each(${JSON.stringify(owners)})`;
  const isAllowed = mustBeWhole ? sql`item.is_last and ${isWhole(ways)}` : sql`true`;
  // The cross join reads the family first.
  const some = ENDINGS.map(
    ([table, isEnding], turn) => sql`select id, ${turn} as turn from (
      select distinct made.id from family_member as member cross join ${table} as made
        on ${isEnding} and ${isWithin(revocation)} limit ${PART_SIZE + 1}) as selected`,
  );
  return openPart(db, {
    prefix: sql`${familyTable(members, organizationId, ways)}, ${FAMILY_MEMBER}`,
    credentials: unionAll(some),
    condition: sql`${isAllowed} and ${condition(lost, mustBeWhole)}`,
  });
}

const FAMILY_MEMBER = sql`family_member(id, degree) as materialized (
  select id, max(degree) from family where degree > 0 group by id)`;
const IS_MEMBER = sql`made.id = member.id`;
const IS_SESSION_OF_MEMBER = sql`(${IS_MEMBER} or made.key_id = member.id)`;

function isWithin({ isEverywhere }: FamilyRevocation): SQL {
  return isEverywhere ? sql`true` : sql`+made.organization_id = (select id from home)`;
}

const AUDITED = [
  [apiKeys, "api_key", "api_key.revoked", apiKeys.name],
  [trusts, "trust", "trust.deleted", trusts.name],
  [runnerTokens, "runner_token", "runner_token.revoked", runnerTokens.name],
  [invitations, "invitation", "invitation.revoked", null],
  [sessions, "session", "session.revoked", null],
] as const;

/** Audits what a part ends, each in its organization. Comes before `endPart` in the batch. */
export function auditPart(ctx: AuditContext, { organizationId }: FamilyRevocation) {
  const entries = AUDITED.map(([table, type, action, name]) => {
    const act = {
      action,
      target: { type, id: table.id, name },
      organizationOfTarget: table.organizationId,
    };
    const from = sql`from ${table} where ${and(isInPart(table), table === apiKeys ? isShown : undefined)}`;
    return [type, writeAuditFrom(ctx, organizationId, act, from)];
  });
  return Object.fromEntries(entries) satisfies Statements;
}

const MADE_TABLES = [runnerTokens, trusts, invitations, signInLinks] as const;
type MadeTable = (typeof MADE_TABLES)[number];
type EndingTable = MadeTable | typeof sessions | typeof apiKeys;

/** Joins members with what they have made in a table, as `made`. The cross join reads the members first. */
export function madeBy(members: SQL, table: MadeTable): SQL {
  return sql`${members} as member cross join ${table} as made on ${isMadeByMember(table)}`;
}

function makersOf(table: MadeTable): SQL[] {
  const bySession = sql`made.created_by_session_id = member.id`;
  if (table === signInLinks) return [bySession, sql`made.key_id = member.id`];
  if (table === invitations) return [bySession, sql`made.created_by_key_id = member.id`];
  const byKey = [bySession, sql`made.issued_by_key_id = member.id`];
  return table === runnerTokens ? [...byKey, sql`made.rotated_by_key_id = member.id`] : byKey;
}

function isMadeByMember(table: MadeTable): SQL {
  return sql`(${sql.join(makersOf(table), sql` or `)})`;
}

/** Keys are last: the deletion of a trust that was interrupted finds what its keys have made by these. */
const ENDINGS: readonly (readonly [EndingTable, SQL])[] = [
  [sessions, IS_SESSION_OF_MEMBER],
  ...MADE_TABLES.map((table) => [table, isMadeByMember(table)] as const),
  [apiKeys, IS_MEMBER],
];
