import { and, eq, exists, ne, notExists, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import {
  CUMULATIVE_BYTES,
  keyset,
  limitPageBytes,
  type PageRequest,
  pageOrder,
  sizeOf,
} from "../../db/keyset.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { apiKeys } from "../api-keys/table.ts";
import { projectMembers } from "../project-members/table.ts";
import { keepsOwnerKey } from "./member-keys.ts";
import type { Profile } from "./table.ts";
import { accounts, memberships } from "./table.ts";

export interface NewAccount {
  /** In lower case. */
  email: string;
  name: string;
  displayName: string | null;
  avatar: string | null;
  profile: Profile;
}

export type AccountRow = typeof accounts.$inferSelect;
export type NewMembership = Omit<typeof memberships.$inferInsert, "accountId">;
export type MemberRow = Awaited<ReturnType<typeof findMember>>[number];

const MEMBER = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  organizationId: memberships.organizationId,
  accountId: memberships.accountId,
  role: memberships.role,
  createdAt: sql<number>`${memberships.createdAt}`.as("membership_created_at"),
  name: accounts.name,
  displayName: accounts.displayName,
  avatar: accounts.avatar,
  profile: accounts.profile,
};

/** The bytes of a membership and its account in a response. */
export const ACCOUNT_SIZE = sizeOf({
  json: [accounts.profile],
  text: [accounts.name, accounts.displayName, accounts.avatar],
  rest: 400,
});

function selectMembers(db: Database) {
  return db
    .select(MEMBER)
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId));
}

const within = (organizationId: string, id: string) =>
  and(eq(memberships.organizationId, organizationId), eq(memberships.id, id));

export function listMembers(db: Database, organizationId: string, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, memberships.createdAt, memberships.id);
  const { id, createdAt } = memberships;
  const records = db
    .select({
      id: sql`${id}`.as("id"),
      createdAt: sql`${createdAt}`.as("created_at"),
      size: ACCOUNT_SIZE,
    })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(and(eq(memberships.organizationId, organizationId), where))
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...MEMBER, ...CUMULATIVE_BYTES })
    .from(limitPageBytes(page, records))
    .innerJoin(memberships, sql`${id} = page.id`)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .orderBy(pageOrder(page));
}

export function findMember(db: Database, organizationId: string, id: string) {
  return selectMembers(db).where(within(organizationId, id));
}

/** Never changes an existing account: it belongs to a person, not to a tenant. */
export function insertAccount(db: Database, account: AccountRow) {
  return db.insert(accounts).values(account).onConflictDoNothing({ target: accounts.email });
}

/** The account of the address must exist. */
export function insertMembership(db: Database, membership: NewMembership, email: string) {
  const account = db.select({ id: accounts.id }).from(accounts).where(eq(accounts.email, email));
  return db.insert(memberships).values({ ...membership, accountId: sql`(${account})` });
}

/** Changes nothing if the role is no longer `from`, or if no owner or no owner's key would remain. */
export function changeRole(
  db: Database,
  organizationId: string,
  id: string,
  change: { from: OrgRole; to: OrgRole; now: number },
) {
  return db
    .update(memberships)
    .set({ role: change.to, updatedAt: change.now })
    .where(
      and(
        within(organizationId, id),
        eq(memberships.role, change.from),
        change.from === "owner" && change.to !== "owner"
          ? remainsOwned(db, organizationId, id, change.now)
          : undefined,
      ),
    )
    .returning({ id: memberships.id });
}

/** Deletes nothing if the role is no longer `from`, or if no owner or no owner's key would remain. */
export function removeMember(
  { db, ownership }: SystemContext,
  organizationId: string,
  id: string,
  { from, now }: { from: OrgRole; now: number },
) {
  const isRemovable = canRemove(db, organizationId, id, { from, now });
  return {
    keys: db
      .select({ secretHash: apiKeys.secretHash, version: apiKeys.version })
      .from(apiKeys)
      .where(eq(apiKeys.membershipId, id)),
    records: ownership.deletionOf(db, memberships, id, isRemovable),
    removed: db
      .delete(memberships)
      .where(and(within(organizationId, id), isRemovable))
      .returning({ id: memberships.id }),
  };
}

/** Whether the role is still `from`, and the organization and its projects keep an owner. */
function canRemove(
  db: Database,
  organizationId: string,
  id: string,
  { from, now }: { from: OrgRole; now: number },
): SQL {
  const conditions = [
    hasRole(db, organizationId, id, from),
    ...(from === "owner" ? [remainsOwned(db, organizationId, id, now)] : []),
    ownsNoProjectAlone(db, id),
  ];
  return sql.join(conditions, sql` and `);
}

/** Selects the keys of a membership that `removeMember` deletes. */
export function keysOfRemovable(
  db: Database,
  organizationId: string,
  id: string,
  state: { from: OrgRole; now: number },
): SQL {
  return sql`api_keys.membership_id = ${id} and ${canRemove(db, organizationId, id, state)}`;
}

/** Whether the member's keys are the last of an owner, although another member is an owner too. */
export function findLastOwnerKey(db: Database, organizationId: string, id: string, now: number) {
  return db.get<{ found: number } | undefined>(
    sql`select ${anotherOwnerRemains(db, organizationId, id)}
      and not ${keepsKey(organizationId, id, now)} as found`,
  );
}

function remainsOwned(db: Database, organizationId: string, id: string, now: number): SQL {
  return sql`${anotherOwnerRemains(db, organizationId, id)}
    and ${keepsKey(organizationId, id, now)}`;
}

function keepsKey(organizationId: string, id: string, now: number): SQL {
  return keepsOwnerKey(organizationId, { column: "membership_id", value: id }, now);
}

function hasRole(db: Database, organizationId: string, id: string, role: OrgRole): SQL {
  const self = alias(memberships, "self");
  return exists(
    db
      .select({ one: sql`1` })
      .from(self)
      .where(and(eq(self.organizationId, organizationId), eq(self.id, id), eq(self.role, role))),
  );
}

function anotherOwnerRemains(db: Database, organizationId: string, id: string): SQL {
  const other = alias(memberships, "other");
  return exists(
    db
      .select({ one: sql`1` })
      .from(other)
      .where(
        and(eq(other.organizationId, organizationId), eq(other.role, "owner"), ne(other.id, id)),
      ),
  );
}

function ownsNoProjectAlone(db: Database, id: string): SQL {
  const owned = alias(projectMembers, "owned");
  const other = alias(projectMembers, "other");
  const otherOwner = db
    .select({ one: sql`1` })
    .from(other)
    .where(
      and(
        eq(other.projectId, owned.projectId),
        eq(other.role, "owner"),
        ne(other.membershipId, id),
      ),
    );
  return notExists(
    db
      .select({ one: sql`1` })
      .from(owned)
      .where(and(eq(owned.membershipId, id), eq(owned.role, "owner"), notExists(otherOwner))),
  );
}
