import { and, eq, exists, ne, type SQL, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import {
  CUMULATIVE_BYTES,
  keyset,
  limitPageBytes,
  type PageRequest,
  pageOrder,
} from "../../db/keyset.ts";
import { type OrgRole, PROJECT_ROLES, type ProjectRole } from "../../lib/roles.ts";
import { ACCOUNT_SIZE } from "../memberships/index.ts";
import { accounts, memberships } from "../memberships/table.ts";
import { projectMembers } from "./table.ts";

export type ProjectMemberRow = Awaited<ReturnType<typeof findMember>>[number];

/**
 * Every column under a name of its own: a batch on D1 loses columns that share one, and a union is
 * ordered by the names of its columns.
 */
const PERSON = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  accountId: memberships.accountId,
  orgRole: sql<OrgRole>`${memberships.role}`.as("org_role"),
  name: accounts.name,
  displayName: accounts.displayName,
  avatar: accounts.avatar,
  profile: accounts.profile,
};

const MEMBER = {
  ...PERSON,
  projectId: projectMembers.projectId,
  membershipId: sql<string>`${projectMembers.membershipId}`.as("membership_id"),
  role: projectMembers.role,
  createdAt: sql<number>`${projectMembers.createdAt}`.as("created_at"),
};

function selectMembers(db: Database) {
  return db
    .select(MEMBER)
    .from(projectMembers)
    .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
    .innerJoin(accounts, eq(accounts.id, memberships.accountId));
}

const within = (organizationId: string, projectId: string) =>
  and(eq(projectMembers.organizationId, organizationId), eq(projectMembers.projectId, projectId));

export function findMember(
  db: Database,
  organizationId: string,
  projectId: string,
  membershipId: string,
) {
  return selectMembers(db).where(
    and(within(organizationId, projectId), eq(projectMembers.membershipId, membershipId)),
  );
}

/**
 * A page of a project's members. For several roles, one ordered arm each, which SQLite merges as
 * it reads: so every arm walks an index, and reads no more than the page needs.
 */
export function listMembers(
  db: Database,
  organizationId: string,
  projectId: string,
  page: PageRequest & { roles: readonly ProjectRole[] },
) {
  const { where, orderBy, limit } = keyset(
    page,
    projectMembers.createdAt,
    projectMembers.membershipId,
  );
  const arm = (role?: ProjectRole) =>
    db
      .select({
        id: sql`${projectMembers.membershipId}`.as("membership_id"),
        createdAt: sql`${projectMembers.createdAt}`.as("created_at"),
        size: ACCOUNT_SIZE,
      })
      .from(projectMembers)
      .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
      .innerJoin(accounts, eq(accounts.id, memberships.accountId))
      .where(and(within(organizationId, projectId), role && eq(projectMembers.role, role), where));
  const everyRole = page.roles.length === 0 || page.roles.length === PROJECT_ROLES.length;
  const [first, second, ...rest] = (everyRole ? [undefined] : page.roles).map(arm);
  if (!first) throw new Error("A list has at least one arm");
  const arms = second ? unionAll(first, second, ...rest) : first;
  const records = arms.orderBy(...orderBy).limit(limit);
  return (
    db
      .select({ ...MEMBER, ...CUMULATIVE_BYTES })
      .from(
        limitPageBytes(page, sql`(select membership_id as id, created_at, size from ${records})`),
      )
      // A cross join keeps SQLite from reading all members of the project to look them up in the page.
      .crossJoin(projectMembers)
      .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
      .innerJoin(accounts, eq(accounts.id, memberships.accountId))
      .where(
        and(eq(projectMembers.projectId, projectId), sql`${projectMembers.membershipId} = page.id`),
      )
      .orderBy(pageOrder(page))
  );
}

/** Those of the memberships that are the organization's, with their people. */
export function findPeople(db: Database, organizationId: string, membershipIds: readonly string[]) {
  return db
    .select(PERSON)
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(isAmong(organizationId, membershipIds));
}

/** JSON carries the list: a statement takes at most 100 parameters. */
function isAmong(organizationId: string, membershipIds: readonly string[]) {
  return and(
    eq(memberships.organizationId, organizationId),
    sql`${memberships.id} in (select value from json_each(${JSON.stringify(membershipIds)}))`,
  );
}

/** Adds memberships of the organization, all of them or none. */
export function addMembers(
  db: Database,
  added: {
    organizationId: string;
    projectId: string;
    projectCreatedAt: number;
    membershipIds: readonly string[];
    role: ProjectRole;
    now: number;
  },
) {
  const known = isAmong(added.organizationId, added.membershipIds);
  const count = db.select({ count: sql`count(*)` }).from(memberships).where(known);
  const { projectId, role, now, projectCreatedAt } = added;
  return insertFrom(
    db,
    projectMembers,
    {
      projectId,
      membershipId: memberships.id,
      organizationId: memberships.organizationId,
      role,
      createdAt: now,
      projectCreatedAt,
    },
    sql`from ${memberships} where ${and(known, sql`(${count}) = ${added.membershipIds.length}`)}`,
  ).returning({ membershipId: projectMembers.membershipId });
}

/** Changes the role, unless the project would be left without an owner. */
export function changeRole(
  db: Database,
  organizationId: string,
  projectId: string,
  membershipId: string,
  role: ProjectRole,
) {
  return db
    .update(projectMembers)
    .set({ role })
    .where(
      and(
        within(organizationId, projectId),
        eq(projectMembers.membershipId, membershipId),
        role === "owner" ? undefined : anotherOwnerRemains(db, projectId, membershipId),
      ),
    )
    .returning({ membershipId: projectMembers.membershipId });
}

export function removeMember(
  db: Database,
  organizationId: string,
  projectId: string,
  membershipId: string,
) {
  return db
    .delete(projectMembers)
    .where(
      and(
        within(organizationId, projectId),
        eq(projectMembers.membershipId, membershipId),
        anotherOwnerRemains(db, projectId, membershipId),
      ),
    )
    .returning({ membershipId: projectMembers.membershipId });
}

/** True for whoever is no owner, too, as every project has one. */
function anotherOwnerRemains(db: Database, projectId: string, membershipId: string): SQL {
  const other = alias(projectMembers, "other");
  return exists(
    db
      .select({ found: sql`1` })
      .from(other)
      .where(
        and(
          eq(other.projectId, projectId),
          eq(other.role, "owner"),
          ne(other.membershipId, membershipId),
        ),
      ),
  );
}
