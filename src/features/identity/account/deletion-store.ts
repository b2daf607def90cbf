import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after, type Results, type Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { nextVersion, resourceHasExpectedVersion } from "../../../db/expected-version.ts";
import type { ManyRows } from "../../../db/row-pages.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { timeOf } from "../../../lib/ids.ts";
import { eraseAuditedPerson } from "../../housekeeping/audit/index.ts";
import { auditLog } from "../../housekeeping/audit/table.ts";
import { eraseChangedPerson, listProjectsOfMembers } from "../../housekeeping/changelog/index.ts";
import { eraseEntries } from "../../housekeeping/idempotency/index.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { apiKeys } from "../credentials/api-key-table.ts";
import {
  closePart,
  IS_LAST_PART,
  isInPart,
  keepsOwnerKey,
  openPart,
  PART_SIZE,
  revokeKeysAnywhere,
} from "../credentials/index.ts";
import { keepTombstones } from "../memberships/index.ts";

const HOUR_MS = 3_600_000;

export type MembershipRow = Awaited<ReturnType<typeof listMemberships>>[number];

export function listMemberships(db: Database, accountId: string) {
  return db
    .select({
      id: memberships.id,
      organizationId: memberships.organizationId,
      role: memberships.role,
    })
    .from(memberships)
    .where(eq(memberships.accountId, accountId));
}

/** The IDs of all memberships that the account has and had. */
export function listRecords(db: Database, accountId: string) {
  const records = sql`(
    select id from memberships where account_id = ${accountId}
    union select target_id from audit_log where target_type = 'member'
      and coalesce(changes ->> '$.after.account_id', changes ->> '$.before.account_id') = ${accountId}
    union select record_id from changelog_entries where record_type = 'project_member'
      and coalesce(after, before) ->> '$.account_id' = ${accountId}) as selected`;
  return db.select({ id: sql<string>`id`.as("id") }).from(records);
}

/** The invitations that led to memberships. */
function listAcceptedInvitations(db: Database, recordIds: readonly string[]) {
  // A member may have acted hundreds of thousands of times, first of all by accepting the invitation.
  const beginnings = recordIds.map((id) => [id, timeOf(id) + HOUR_MS]);
  return db.select({ id: sql<string>`${auditLog.targetId}`.as("target_id") }).from(
    sql`json_each(${JSON.stringify(beginnings)}) as record
      cross join ${auditLog} on ${auditLog.membershipId} = record.value ->> 0
        and ${auditLog.createdAt} <= record.value ->> 1
        and ${auditLog.action} = 'invitation.accepted'`,
  );
}

export interface Person {
  accountId: string;
  memberships: readonly { id: string; organizationId: string }[];
  /** See `listRecords`. */
  recordIds: readonly string[];
  /** Null: nobody has proven that an address is theirs. */
  email: string | null;
  now: number;
}

/** What has the person's data, beside the account. */
export function findReach(db: Database, { recordIds }: Person) {
  return {
    invitations: listAcceptedInvitations(db, recordIds),
    projects: listProjectsOfMembers(db, recordIds),
  };
}

/** Every stored copy of the person's data. */
export function copiesOf(
  db: Database,
  { accountId, memberships, recordIds, email }: Person,
  { invitations, projects }: Results<ReturnType<typeof findReach>>,
): ManyRows[] {
  const ids = [accountId, ...recordIds, ...invitations.map(({ id }) => id)];
  return [
    eraseEntries(db, { memberships, texts: email === null ? ids : [...ids, email] }),
    eraseAuditedPerson(db, ids),
    ...eraseChangedPerson(db, recordIds, projects),
  ];
}

/** Of each batch that erases copies: it writes nothing once the account may not be deleted any more. */
export function guardErasure(ctx: ServiceContext, person: Person) {
  const nothing = sql`select null as id, 0 as turn where 0`;
  return {
    first: openPart(ctx.db, { credentials: nothing, condition: isErasable(ctx, person) }),
    condition: IS_LAST_PART,
    last: closePart(ctx.db),
  };
}

/**
 * Revokes some of the person's keys, and deletes the account once that leaves none, in all organizations. Does
 * nothing if an organization or a project would lose its last owner or its last owner's key, or if the request
 * expects another version. `closePart` comes last in the batch.
 * @param eraseNew The copies that were not erased before.
 */
export function eraseAccount(
  ctx: ServiceContext,
  person: Person,
  eraseNew: (condition: SQL) => Statements,
) {
  const { db, ownership, actor } = ctx;
  const { accountId, now } = person;
  const own = sql`select id from memberships where account_id = ${accountId}`;
  const isOwn = sql`${eq(memberships.accountId, accountId)} and ${IS_LAST_PART}`;
  const ended = db.delete(memberships).where(isOwn).returning({ id: memberships.id });
  return {
    part: openPart(db, {
      credentials: keysOf(ctx, own),
      condition: isErasable(ctx, person),
    }),
    copies: eraseNew(IS_LAST_PART),
    keys: revokeKeysAnywhere(db, isInPart(apiKeys), { now, actor }),
    owned: ownership.deletionOf(db, memberships, own, IS_LAST_PART),
    tombstones: keepTombstones(db, isOwn, now),
    ended,
    // Last: it changes the version of the account.
    account: after(ended, (hasChanged) => erasePerson(db, accountId, now, hasChanged)),
  } satisfies Statements;
}

/** The key of the request ends last: while it exists, a deletion that was interrupted can be repeated. */
function keysOf({ actor }: ServiceContext, membershipIds: SQL): SQL {
  return sql`select id, id = ${actor.keyId} as turn from api_keys
    where membership_id in (${membershipIds}) limit ${PART_SIZE + 1}`;
}

const ERASED_NAME = "Deleted account";

function erasePerson(db: Database, id: string, now: number, condition: SQL) {
  const names = { name: ERASED_NAME, displayName: ERASED_NAME };
  const version = nextVersion(accounts.version);
  return db
    .update(accounts)
    .set({ ...names, email: id, avatar: null, profile: {}, updatedAt: now, version })
    .where(and(eq(accounts.id, id), condition));
}

function isErasable(ctx: ServiceContext, person: Person): SQL {
  const resource = eq(accounts.id, person.accountId);
  return sql`${canErase(person)} and ${resourceHasExpectedVersion(ctx, accounts.version, resource)}`;
}

/** Stays true while the keys end, in this batch and in the next ones. */
function canErase({ accountId, memberships: known, now }: Person): SQL {
  const otherOwner = sql`select 1 from memberships as other
    where other.organization_id = own.organization_id and other.role = 'owner'
      and other.kind = 'person' and other.status = 'active' and other.account_id <> own.account_id`;
  const otherProjectOwner = sql`select 1 from project_members as other
    where other.project_id = owned.project_id and other.role = 'owner'
      and other.membership_id <> own.id`;
  const lost = { column: "membership_id", value: sql`own.id` } as const;
  const isOwn = sql`own.account_id = ${accountId}
    and ${isLiveOrganization(sql`own.organization_id`)}`;
  return sql`(select count(*) from memberships where account_id = ${accountId}) = ${known.length}
    and not exists (select 1 from memberships as own
      where ${isOwn} and own.role = 'owner'
        and (not exists (${otherOwner}) or not ${keepsOwnerKey(sql`own.organization_id`, lost, now)}))
    and not exists (select 1 from memberships as own
      join project_members as owned on owned.membership_id = own.id and owned.role = 'owner'
      join projects as place on place.id = owned.project_id
        and place.organization_id = owned.organization_id
      where ${isOwn} and not exists (${otherProjectOwner}))`;
}
