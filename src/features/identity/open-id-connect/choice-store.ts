import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { memberships } from "../../tenancy/member-table.ts";
import type { MemberStatus } from "../../tenancy/model.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { isUnanswered } from "../invitations/index.ts";
import { IS_ACCEPTED, isPersonWith } from "./store.ts";

export type Choice = Awaited<ReturnType<typeof findChoice>>[number];

/** More than any time in milliseconds, so that what is accepted comes before everything else. */
const ACCEPTED_FIRST = sql.raw("1000000000000000");
const RANK = sql<number>`iif(choice.accepted, ${ACCEPTED_FIRST}, 0)
  + coalesce(choice.signed_in_at, choice.created_at)`;

const CHOICE = {
  /** Of the membership, or of the invitation. */
  id: sql<string>`choice.id`.as("choice_id"),
  organizationId: sql<string>`choice.organization_id`.as("choice_organization_id"),
  organizationName: sql<string>`organizations.name`.as("choice_organization_name"),
  /** Null: an invitation. */
  accountId: sql<string | null>`choice.account_id`.as("choice_account_id"),
  role: sql<OrgRole>`choice.role`.as("choice_role"),
  status: sql<MemberStatus | null>`choice.status`.as("choice_status"),
  isAccepted: sql<boolean>`choice.accepted`.mapWith(Boolean).as("choice_accepted"),
  signedInAt: sql<number | null>`choice.signed_in_at`.as("choice_signed_in_at"),
  createdAt: sql<number>`choice.created_at`.as("choice_created_at"),
  /** Of an invitation. */
  expiresAt: sql<number | null>`choice.expires_at`.as("choice_expires_at"),
  rank: RANK.as("choice_rank"),
  /** Null: not known, or no longer a member. */
  inviterName: sql<string | null>`(
    select accounts.name from memberships as inviter
    join accounts on accounts.id = inviter.account_id
    where inviter.organization_id = choice.organization_id and inviter.id = coalesce(
      choice.invited_by,
      (select membership_id from api_keys where id = choice.added_by_key_id),
      (select membership_id from revoked_keys where id = choice.added_by_key_id),
      (select membership_id from ended_sessions where id = choice.added_by_session_id)))`.as(
    "choice_inviter_name",
  ),
};

/** The memberships and the open invitations of an address: one at most in each organization. */
function choicesOf(email: string, now: number): SQL {
  return sql`(
    select id, organization_id, account_id, role, status, ${IS_ACCEPTED} as accepted, signed_in_at,
      created_at, null as expires_at, added_by_key_id, added_by_session_id, null as invited_by
    from memberships where ${isPersonWith(email)}
    union all
    select id, organization_id, null, role, null, 0, null,
      created_at, expires_at, null, null, created_by_membership_id
    from invitations where invitations.email = ${email} and ${isUnanswered(now)}) as choice`;
}

function selectChoices(db: Database, email: string, now: number) {
  return db
    .select(CHOICE)
    .from(choicesOf(email, now))
    .innerJoin(organizations, sql`organizations.id = choice.organization_id`);
}

/** The accepted ones first, the last used of them before the others. */
export function listChoices(db: Database, email: string, now: number, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, RANK, sql`choice.id`);
  return selectChoices(db, email, now)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit);
}

export function findChoice(db: Database, email: string, now: number, organizationId: string) {
  return selectChoices(db, email, now).where(sql`choice.organization_id = ${organizationId}`);
}

/** The membership of an address, which no sign-in with the address has accepted. */
function isUnaccepted(email: string): SQL {
  return sql`memberships.email = ${email} and not ${IS_ACCEPTED}`;
}

/** For the statements of a removal, which also write other tables. */
export function hasUnaccepted(membershipId: string, email: string): SQL {
  return sql`exists (select 1 from ${memberships} where memberships.id = ${membershipId}
    and ${isUnaccepted(email)})`;
}

/** Changes nothing if the person has accepted it meanwhile. */
export function acceptMembership(db: Database, membershipId: string, email: string, now: number) {
  const { version } = memberships;
  return db
    .update(memberships)
    .set({
      status: "active",
      signedInAt: now,
      updatedAt: now,
      version: sql`${version} + (memberships.status = 'pending')`,
    })
    .where(and(sql`memberships.id = ${membershipId}`, isUnaccepted(email)));
}
