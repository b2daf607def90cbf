import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { usedSignIns } from "./table.ts";

export type OwnOrganization = Awaited<ReturnType<typeof listOwnOrganizations>>[number];

/** The address of a membership is that of its person, in lower case. */
export function isPersonWith(email: string | SQL): SQL {
  return sql`memberships.email = ${email} and memberships.kind = 'person'
    and ${isLiveOrganization(sql`memberships.organization_id`)}`;
}

/**
 * The person has signed in to it, or has founded its organization with an account that has the address
 * itself, not that of somebody whom others have added.
 */
export const IS_ACCEPTED = sql`(memberships.signed_in_at is not null or exists (
  select 1 from organizations as founded
  join accounts as founder on founder.id = memberships.account_id
  where founded.id = memberships.organization_id and founded.created_at = memberships.created_at
    and founder.email = memberships.email))`;

/** Those that a session can switch to, with its own. Only its own if it is not from OpenID Connect. */
function isOwn({ membershipId, session }: Actor): SQL {
  const isCurrent = sql`memberships.id = ${membershipId}`;
  if (!session?.isOfPerson) return isCurrent;
  const address = sql`(select own.email from memberships as own where own.id = ${membershipId})`;
  return sql`${isPersonWith(address)} and (${IS_ACCEPTED} or ${isCurrent})`;
}

const OWN_ORGANIZATION = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  organizationId: sql<string>`${organizations.id}`.as("organization_id"),
  organizationName: sql<string>`${organizations.name}`.as("organization_name"),
  accountId: memberships.accountId,
  role: memberships.role,
  createdAt: sql<number>`${memberships.createdAt}`.as("joined_at"),
};

function selectOwn(db: Database) {
  return db
    .select(OWN_ORGANIZATION)
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.organizationId));
}

export function listOwnOrganizations(db: Database, actor: Actor, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, memberships.createdAt, memberships.id);
  return selectOwn(db)
    .where(and(isOwn(actor), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findOwnOrganization(db: Database, actor: Actor, organizationId: string) {
  return selectOwn(db).where(and(isOwn(actor), eq(memberships.organizationId, organizationId)));
}

/** The sign-in is the last one to this membership. */
export function recordSignIn(db: Database, membershipId: string, now: number) {
  return db.update(memberships).set({ signedInAt: now }).where(eq(memberships.id, membershipId));
}

export function findUsed(db: Database, id: string) {
  return db.select({ id: usedSignIns.id }).from(usedSignIns).where(eq(usedSignIns.id, id));
}

/** Fails with a violation of `used_sign_ins.id` if the sign-in has succeeded before. */
export function markUsed(db: Database, used: typeof usedSignIns.$inferInsert) {
  return db.insert(usedSignIns).values(used);
}

export function deleteExpired(db: Database, now: number) {
  const oldest = db
    .select({ id: usedSignIns.id })
    .from(usedSignIns)
    .where(sql`${usedSignIns.expiresAt} <= ${now}`)
    .limit(LIMITS.sweepSessions.value);
  return db.delete(usedSignIns).where(inArray(usedSignIns.id, oldest));
}
