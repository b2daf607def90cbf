import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import type { CreatedKey } from "../api-keys/index.ts";
import { apiKeys, isAsAuthenticated } from "../credentials/api-key-table.ts";
import { invitations } from "../credentials/invitation-table.ts";
import type { MemberRow } from "../memberships/index.ts";
import { OPEN } from "./model.ts";

export type InvitationRow = typeof invitations.$inferSelect;

export interface CreatedInvitation {
  row: InvitationRow;
  token: string;
  /** Of the link. */
  origin: string;
}

export interface AcceptedInvitation {
  organizationName: string;
  member: MemberRow;
  apiKey: CreatedKey;
}

export type OpenInvitation = Awaited<ReturnType<typeof findAcceptable>>[number];

/** What a link proves. */
export interface InvitationToken {
  id: string;
  secretHash: string;
}

/** What a sign-in proves. In lower case. */
export interface InvitedAddress {
  /** Of the invitation. */
  id: string;
  email: string;
}

/**
 * Not expired, its organization not deleted, and its inviter may still invite to its role. Names its
 * columns with their table, because Drizzle drops the names of tables in a select from one table.
 */
function isOpen(now: number): SQL {
  return sql`invitations.expires_at > ${now}
    and ${isLiveOrganization(sql`invitations.organization_id`)} and exists (
    select 1 from memberships as inviter
    where inviter.id = invitations.created_by_membership_id
      and inviter.organization_id = invitations.organization_id
      and (inviter.role = 'owner' or (inviter.role = 'admin' and invitations.role <> 'owner')))`;
}

/** Open, and its address is not a member in the meantime. */
export function isUnanswered(now: number): SQL {
  return sql`${isOpen(now)} and not exists (select 1 from memberships as added
    where added.organization_id = invitations.organization_id
      and added.email = invitations.email)`;
}

function isAcceptable(proof: InvitationToken | InvitedAddress, now: number): SQL {
  const isProven =
    "email" in proof
      ? sql`invitations.email = ${proof.email}`
      : sql`invitations.secret_hash = ${proof.secretHash}`;
  return sql`invitations.id = ${proof.id} and ${isProven} and ${isUnanswered(now)}`;
}

const within = (organizationId: string, id: string) =>
  and(eq(invitations.organizationId, organizationId), eq(invitations.id, id));

export function listInvitations(
  db: Database,
  organizationId: string,
  page: PageRequest,
  now: number,
) {
  const { where, orderBy, limit } = keyset(page, invitations.createdAt, invitations.id);
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.organizationId, organizationId), isOpen(now), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findInvitation(db: Database, organizationId: string, id: string, now: number) {
  return db
    .select()
    .from(invitations)
    .where(and(within(organizationId, id), isOpen(now)));
}

export function findAcceptable(db: Database, proof: InvitationToken | InvitedAddress, now: number) {
  return db
    .select({
      id: invitations.id,
      organizationId: invitations.organizationId,
      organizationName: sql<string>`${organizations.name}`.as("organization_name"),
      maxKeyAgeSeconds: organizations.maxKeyAgeSeconds,
      email: invitations.email,
      name: invitations.name,
      role: invitations.role,
      expiresAt: invitations.expiresAt,
      createdByKeyId: invitations.createdByKeyId,
      createdBySessionId: invitations.createdBySessionId,
    })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .where(isAcceptable(proof, now));
}

/** Those that are no longer open neither block their address nor count. */
export function deleteLapsed(db: Database, organizationId: string, now: number) {
  return db
    .delete(invitations)
    .where(and(eq(invitations.organizationId, organizationId), sql`not (${isOpen(now)})`));
}

export function openCountBound(organizationId: string, now: number): Bound {
  const count = sql`(select count(*) from invitations
    where invitations.organization_id = ${organizationId} and ${isOpen(now)})`;
  return {
    what: OPEN,
    limit: LIMITS.openInvitations.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Inserts nothing if the address is that of a member, or if the credential has just changed. */
export function insertInvitation({ db, actor }: ServiceContext, invitation: InvitationRow) {
  const { organizationId, email } = invitation;
  return insertFrom(
    db,
    invitations,
    invitation,
    sql`where not exists (select 1 from memberships
      where memberships.organization_id = ${organizationId} and memberships.email = ${email})
      and ${isAsAuthenticated(actor)}`,
  ).returning();
}

export function deleteInvitation(db: Database, organizationId: string, id: string, now: number) {
  return db
    .delete(invitations)
    .where(and(within(organizationId, id), isOpen(now)))
    .returning({ id: invitations.id });
}

/** Of two concurrent requests, one deletes it. */
export function consumeInvitation(
  db: Database,
  proof: InvitationToken | InvitedAddress,
  now: number,
) {
  return db.delete(invitations).where(isAcceptable(proof, now)).returning({ id: invitations.id });
}

export interface Joining {
  account: typeof accounts.$inferSelect;
  membership: typeof memberships.$inferSelect;
  /** Absent: the person has signed in, and gets a session instead. */
  key?: typeof apiKeys.$inferSelect;
}

/** Inserts nothing unless the invitation was `consumed`. */
export function insertJoining(
  db: Database,
  { account, membership, key }: Joining,
  consumed: Statement,
) {
  return {
    account: after(consumed, (isConsumed) =>
      insertFrom(db, accounts, account, sql`where ${isConsumed}`),
    ),
    membership: after(consumed, (isConsumed) =>
      insertFrom(db, memberships, membership, sql`where ${isConsumed}`),
    ),
    key:
      key &&
      after(consumed, (isConsumed) => insertFrom(db, apiKeys, key, sql`where ${isConsumed}`)),
  };
}

/** All are valid for the same time, so the first in the order of their IDs expire first. */
export function deleteExpired(db: Database, now: number) {
  const limit = LIMITS.sweepInvitations.value;
  return db.delete(invitations).where(
    sql`${invitations.id} in (select id from invitations order by id limit ${limit})
      and ${lte(invitations.expiresAt, now)}`,
  );
}
