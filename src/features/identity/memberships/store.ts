import { and, eq, exists, ne, notExists, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
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
  sizeOf,
} from "../../../db/keyset.ts";
import type { ConditionalRequest } from "../../../lib/entity-tag.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import type { Profile } from "../../tenancy/member-table.ts";
import { accounts, memberships, removedMemberships } from "../../tenancy/member-table.ts";
import { projectMembers } from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { apiKeys, isAsAuthenticated } from "../credentials/api-key-table.ts";
import {
  IS_LAST_PART,
  isInPart,
  keepsOwnerKey,
  openPart,
  PART_SIZE,
  revokeKeys,
} from "../credentials/index.ts";

export interface NewAccount {
  /** In lower case. */
  email: string;
  name: string;
  displayName: string | null;
  avatar: string | null;
  profile: Profile;
}

export type AccountRow = typeof accounts.$inferSelect;
export type NewMembership = typeof memberships.$inferSelect;
export type MemberRow = Awaited<ReturnType<typeof findMember>>[number];

const MEMBER = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  organizationId: memberships.organizationId,
  accountId: memberships.accountId,
  role: memberships.role,
  kind: memberships.kind,
  status: memberships.status,
  createdAt: sql<number>`${memberships.createdAt}`.as("membership_created_at"),
  version: memberships.version,
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

export function listMembers(db: Database, organizationId: string, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, memberships.createdAt, memberships.id);
  const { id, createdAt } = memberships;
  const items = db
    .select({
      id: sql`${id}`.as("id"),
      createdAt: sql`${createdAt}`.as("created_at"),
      size: ACCOUNT_SIZE,
    })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(and(eq(memberships.organizationId, organizationId), hasName(page, accounts.name), where))
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...MEMBER, ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(memberships, sql`${id} = page.id`)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId));
}

export function findMember(db: Database, organizationId: string, id: string) {
  return selectMembers(db).where(within(organizationId, id));
}

/** One who was removed, with the strongest role of the keys that were revoked then. */
export function findFormerMember(db: Database, organizationId: string, id: string) {
  const roles = sql`select role from revoked_keys
    where membership_id = ${id} and organization_id = ${organizationId}`;
  const former = sql`(select iif('owner' in (${roles}), 'owner', 'admin') as role
    where not exists (select 1 from memberships where memberships.id = ${id})
      and (exists (${roles}) or exists (select 1 from ended_sessions
        where membership_id = ${id} and organization_id = ${organizationId}))) as former`;
  return db.select({ role: sql<OrgRole>`former.role`.as("role") }).from(former);
}

/** Inserts nothing if the credential of the request has just changed. */
export function insertAccount({ db, actor }: ServiceContext, account: AccountRow) {
  const condition = sql`where ${isAsAuthenticated(actor)}`;
  return insertFrom(db, accounts, account, condition).returning({ id: accounts.id });
}

/** Inserts nothing unless its account was `inserted`. */
export function insertMembership(db: Database, membership: NewMembership, inserted: Statement) {
  return after(inserted, (hasChanged) =>
    insertFrom(db, memberships, membership, sql`where ${hasChanged}`),
  );
}

/**
 * Changes nothing if the role is no longer `from`, if no owner or no owner's key would remain, or if the
 * request expects another version.
 */
export function changeRole(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  change: { from: OrgRole; to: OrgRole; now: number },
) {
  const { db } = ctx;
  const { version } = memberships;
  return db
    .update(memberships)
    .set({
      role: change.to,
      updatedAt: change.now,
      version: nextVersion(version),
    })
    .where(
      and(
        within(organizationId, id),
        eq(memberships.role, change.from),
        hasExpectedVersion(ctx, version),
        change.from === "owner" && change.to !== "owner"
          ? remainsOwned(db, organizationId, id, change.now)
          : undefined,
      ),
    )
    .returning({ version });
}

interface RemovalContext extends Pick<ServiceContext, "db" | "ownership">, ConditionalRequest {
  /** Absent: the person, who has signed in and has no key. */
  actor?: Actor;
}

/**
 * Revokes some of the keys of a member, and deletes the member once that leaves none. Does nothing if the role is no
 * longer `from`, if no owner or no owner's key would remain, or if the request expects another version. Keys that
 * the member created for others remain. `closePart` comes last in the batch.
 */
export function removeMember(
  ctx: RemovalContext,
  organizationId: string,
  id: string,
  { from, now, condition = sql`true` }: { from: OrgRole; now: number; condition?: SQL },
) {
  const { db, ownership, actor } = ctx;
  const resource = within(organizationId, id);
  const conditions = [
    resourceHasExpectedVersion(ctx, memberships.version, resource),
    hasRole(db, organizationId, id, from),
    ...(from === "owner" ? [remainsOwned(db, organizationId, id, now)] : []),
    ownsNoProjectAlone(db, id),
    condition,
  ];
  const credentials = sql`select id, 0 as turn from api_keys where membership_id = ${id} limit ${PART_SIZE + 1}`;
  return {
    part: openPart(db, { credentials, condition: sql.join(conditions, sql` and `) }),
    keys: revokeKeys(db, { organizationId, keys: isInPart(apiKeys), now, actor }),
    owned: ownership.deletionOf(db, memberships, id, IS_LAST_PART),
    tombstone: keepTombstones(db, sql`${resource} and ${IS_LAST_PART}`, now),
    removed: db
      .delete(memberships)
      .where(and(resource, IS_LAST_PART))
      .returning({ id: memberships.id }),
  };
}

/** Of the memberships that `condition` selects, before they are deleted, if a credential has added them. */
export function keepTombstones(db: Database, condition: SQL, now: number) {
  const { id, organizationId, addedByKeyId, addedBySessionId, createdAt } = memberships;
  return insertFrom(
    db,
    removedMemberships,
    { id, organizationId, addedByKeyId, addedBySessionId, createdAt, removedAt: now },
    sql`from ${memberships} where ${condition} and coalesce(${addedByKeyId}, ${addedBySessionId}) is not null`,
  );
}

/** For the purge. */
export function isRemovedBefore(time: number): SQL {
  return sql`${removedMemberships.removedAt} <= ${time}`;
}

/**
 * Deletes an account that nobody has proven to be theirs, once it has no membership: nobody could
 * ever change or delete it.
 */
export function deleteUnprovenAccount(db: Database, id: string) {
  const membership = db
    .select({ one: sql`1` })
    .from(memberships)
    .where(eq(memberships.accountId, id));
  return db
    .delete(accounts)
    .where(and(eq(accounts.id, id), eq(accounts.email, accounts.id), notExists(membership)));
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

/** A service account, or a person who has never signed in, could not act as the owner. */
function anotherOwnerRemains(db: Database, organizationId: string, id: string): SQL {
  const other = alias(memberships, "other");
  return exists(
    db
      .select({ one: sql`1` })
      .from(other)
      .where(
        and(
          eq(other.organizationId, organizationId),
          eq(other.role, "owner"),
          eq(other.kind, "person"),
          eq(other.status, "active"),
          ne(other.id, id),
        ),
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
      .innerJoin(
        projects,
        and(eq(projects.id, owned.projectId), eq(projects.organizationId, owned.organizationId)),
      )
      .where(and(eq(owned.membershipId, id), eq(owned.role, "owner"), notExists(otherOwner))),
  );
}
