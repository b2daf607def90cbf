import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { isLiveOrganization } from "../../db/tombstone.ts";
import { LIMITS } from "../../lib/limits.ts";
import { memberships } from "../memberships/table.ts";
import { organizations } from "../organizations/table.ts";
import { usedSignIns } from "./table.ts";

export type PersonMembership = Awaited<ReturnType<typeof listMemberships>>[number];

/** The address of a membership is that of its person, in lower case. */
function isPersonWith(email: string | SQL): SQL {
  return sql`memberships.email = ${email} and memberships.kind = 'person'
    and ${isLiveOrganization(sql`memberships.organization_id`)}`;
}

const MEMBERSHIP = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  organizationId: sql<string>`${organizations.id}`.as("organization_id"),
  organizationName: sql<string>`${organizations.name}`.as("organization_name"),
  accountId: memberships.accountId,
  role: memberships.role,
  status: memberships.status,
};

/** Those with which the person may work first, and of these the oldest. */
export function listMemberships(db: Database, email: string) {
  return select(db, isPersonWith(email));
}

/** Of the person of a membership. */
export function listMembershipsOf(db: Database, membershipId: string) {
  return select(db, isPersonWith(addressOf(membershipId)));
}

function addressOf(membershipId: string): SQL {
  return sql`(select own.email from memberships as own where own.id = ${membershipId})`;
}

function select(db: Database, condition: SQL) {
  return db
    .select(MEMBERSHIP)
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.organizationId))
    .where(condition)
    .orderBy(asc(memberships.status), asc(memberships.createdAt), asc(memberships.id))
    .limit(LIMITS.organizationsOfPerson.value);
}

/** Signing in with the address accepts a membership. */
export function activate(db: Database, membershipId: string, now: number) {
  return db
    .update(memberships)
    .set({ status: "active", updatedAt: now, recordVersion: sql`${memberships.recordVersion} + 1` })
    .where(and(eq(memberships.id, membershipId), eq(memberships.status, "pending")));
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
