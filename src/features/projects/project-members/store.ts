import { and, eq, exists, inArray, ne, type SQL, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import {
  hasName,
  keyset,
  limitPageBytes,
  type NamedPageRequest,
  PAGE_POSITION,
} from "../../../db/keyset.ts";
import {
  type OrgRole,
  PROJECT_ROLES,
  type ProjectRole,
  projectRoleReaches,
} from "../../../lib/roles.ts";
import { incrementKeyVersions } from "../../identity/credentials/index.ts";
import { ACCOUNT_SIZE } from "../../identity/memberships/index.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { projectMembers } from "../../tenancy/project-member-table.ts";

export type ProjectMemberRow = Awaited<ReturnType<typeof findMember>>[number];

/**
 * Columns have distinct aliases: a batch on D1 loses columns of equal names, and a union is ordered
 * by the names of its columns.
 */
const MEMBERSHIP = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  accountId: memberships.accountId,
  orgRole: sql<OrgRole>`${memberships.role}`.as("org_role"),
  name: accounts.name,
  displayName: accounts.displayName,
  avatar: accounts.avatar,
  profile: accounts.profile,
};

const MEMBER = {
  ...MEMBERSHIP,
  projectId: projectMembers.projectId,
  membershipId: sql<string>`${projectMembers.membershipId}`.as("membership_id"),
  role: projectMembers.role,
  createdAt: sql<number>`${projectMembers.createdAt}`.as("created_at"),
  version: projectMembers.version,
};

function selectMembers(db: Database) {
  return db
    .select(MEMBER)
    .from(projectMembers)
    .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
    .innerJoin(accounts, eq(accounts.id, memberships.accountId));
}

const isMember = (organizationId: string, projectId: string, membershipId: string) =>
  and(within(organizationId, projectId), eq(projectMembers.membershipId, membershipId));

const within = (organizationId: string, projectId: string) =>
  and(eq(projectMembers.organizationId, organizationId), eq(projectMembers.projectId, projectId));

export function findMember(
  db: Database,
  organizationId: string,
  projectId: string,
  membershipId: string,
) {
  return selectMembers(db).where(isMember(organizationId, projectId, membershipId));
}

/**
 * For several roles, a union with one ordered branch per role, which SQLite merges as it reads: each
 * branch scans an index and reads no more rows than the page needs.
 */
export function listMembers(
  db: Database,
  organizationId: string,
  projectId: string,
  page: NamedPageRequest & { roles: readonly ProjectRole[] },
) {
  const { where, orderBy, limit } = keyset(
    page,
    projectMembers.createdAt,
    projectMembers.membershipId,
  );
  const branchOf = (role?: ProjectRole) =>
    db
      .select({
        id: sql`${projectMembers.membershipId}`.as("membership_id"),
        createdAt: sql`${projectMembers.createdAt}`.as("created_at"),
        size: ACCOUNT_SIZE,
      })
      .from(projectMembers)
      .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
      .innerJoin(accounts, eq(accounts.id, memberships.accountId))
      .where(
        and(
          within(organizationId, projectId),
          role && eq(projectMembers.role, role),
          hasName(page, accounts.name),
          where,
        ),
      );
  const hasEveryRole = page.roles.length === 0 || page.roles.length === PROJECT_ROLES.length;
  const [first, second, ...rest] = (hasEveryRole ? [undefined] : page.roles).map(branchOf);
  if (!first) throw new Error("The union has no branch");
  const union = second ? unionAll(first, second, ...rest) : first;
  const items = union.orderBy(...orderBy).limit(limit);
  return (
    db
      .select({ ...MEMBER, ...PAGE_POSITION })
      .from(limitPageBytes(page, sql`(select membership_id as id, created_at, size from ${items})`))
      // A cross join makes SQLite read the page first, not every member of the project.
      .crossJoin(projectMembers)
      .innerJoin(memberships, eq(memberships.id, projectMembers.membershipId))
      .innerJoin(accounts, eq(accounts.id, memberships.accountId))
      .where(
        and(eq(projectMembers.projectId, projectId), sql`${projectMembers.membershipId} = page.id`),
      )
  );
}

export function findMemberships(
  db: Database,
  organizationId: string,
  membershipIds: readonly string[],
) {
  return db
    .select({ ...MEMBERSHIP, status: memberships.status })
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

/** Inserts nothing if one of the memberships is not in the organization. */
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
  const isAdded = isAmong(added.organizationId, added.membershipIds);
  const count = db.select({ count: sql`count(*)` }).from(memberships).where(isAdded);
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
      version: 1,
    },
    sql`from ${memberships} where ${and(isAdded, sql`(${count}) = ${added.membershipIds.length}`)}`,
  ).returning({ membershipId: projectMembers.membershipId });
}

/**
 * Changes nothing if no owner would remain, or if the request expects another version. A lower role
 * raises the versions of the member's keys, so that a database restored to a time before it does not
 * give them the old role again.
 */
export function changeRole(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  role: ProjectRole,
) {
  const { db, actor } = ctx;
  const { organizationId } = actor;
  const { version } = projectMembers;
  const resource = isMember(organizationId, projectId, membershipId);
  const isExpected = resourceHasExpectedVersion(ctx, version, resource);
  const remains = role === "owner" ? sql`true` : anotherOwnerRemains(db, projectId, membershipId);
  const higher = PROJECT_ROLES.filter((each) => each !== role && projectRoleReaches(each, role));
  const isLowered = hasRoleIn(db, projectId, membershipId, higher);
  return {
    keys: incrementKeyVersions(
      db,
      organizationId,
      membershipId,
      and(isLowered, remains, isExpected),
    ),
    changed: db
      .update(projectMembers)
      .set({ role, version: nextVersion(version) })
      .where(and(resource, remains, hasExpectedVersion(ctx, version)))
      .returning({ version }),
  };
}

/**
 * Deletes nothing if no owner would remain, or if the request expects another version. Raises the
 * versions of the member's keys, as above.
 */
export function removeMember(ctx: ServiceContext, projectId: string, membershipId: string) {
  const { db, actor } = ctx;
  const { organizationId } = actor;
  const resource = isMember(organizationId, projectId, membershipId);
  const isExpected = resourceHasExpectedVersion(ctx, projectMembers.version, resource);
  const isRemovable = and(anotherOwnerRemains(db, projectId, membershipId), isExpected);
  const hasAnyRole = hasRoleIn(db, projectId, membershipId, PROJECT_ROLES);
  return {
    keys: incrementKeyVersions(db, organizationId, membershipId, and(hasAnyRole, isRemovable)),
    removed: db
      .delete(projectMembers)
      .where(and(resource, isRemovable))
      .returning({ membershipId: projectMembers.membershipId }),
  };
}

function hasRoleIn(
  db: Database,
  projectId: string,
  membershipId: string,
  roles: readonly ProjectRole[],
): SQL {
  const self = alias(projectMembers, "self");
  return exists(
    db
      .select({ one: sql`1` })
      .from(self)
      .where(
        and(
          eq(self.projectId, projectId),
          eq(self.membershipId, membershipId),
          inArray(self.role, [...roles]),
        ),
      ),
  );
}

/** Also true for a member who is not an owner, because every project has an owner. */
function anotherOwnerRemains(db: Database, projectId: string, membershipId: string): SQL {
  const other = alias(projectMembers, "other");
  return exists(
    db
      .select({ one: sql`1` })
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
