import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement, type Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import {
  type ActOnMany,
  eraseAuditedPerson,
  writeAuditFrom,
} from "../../housekeeping/audit/index.ts";
import { eraseChangedPerson } from "../../housekeeping/changelog/index.ts";
import { eraseEntries } from "../../housekeeping/idempotency/index.ts";
import type { Profile } from "../../tenancy/member-table.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { apiKeys } from "../credentials/api-key-table.ts";
import { keepsOwnerKey, revokeKeys } from "../credentials/index.ts";
import { keepTombstones } from "../memberships/index.ts";

export type OwnAccount = Awaited<ReturnType<typeof findOwnAccount>>[number];
export type Identity = Awaited<ReturnType<typeof findIdentity>>[number] & { actor: Actor };

/** Undefined: unchanged. Null: cleared. */
export interface AccountPatch {
  name: string | undefined;
  displayName: string | null | undefined;
  avatar: string | null | undefined;
  /** Merged into the stored profile (RFC 7396). */
  profile: { [Field in keyof Profile]?: string | null | undefined } | null | undefined;
}

const isOwn = ({ organizationId, membershipId }: Actor) =>
  and(eq(memberships.organizationId, organizationId), eq(memberships.id, membershipId));

export function findOwnAccount(db: Database, actor: Actor) {
  return db
    .select({
      id: accounts.id,
      /** The proven address, or else that of the membership. */
      email: sql<
        string | null
      >`iif(${accounts.email} <> ${accounts.id}, ${accounts.email}, ${memberships.email})`.as(
        "address",
      ),
      kind: memberships.kind,
      role: memberships.role,
      name: accounts.name,
      displayName: accounts.displayName,
      avatar: accounts.avatar,
      profile: accounts.profile,
      createdAt: accounts.createdAt,
      updatedAt: accounts.updatedAt,
      version: accounts.version,
    })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(isOwn(actor));
}

const isOfMember = ({ membershipId }: Actor) => sql`exists (select 1 from memberships
  where memberships.id = ${membershipId} and memberships.account_id = ${accounts.id})`;

/**
 * A display name that equals the name follows it. Changes nothing if the request expects another version,
 * or if the account was erased since it was read: no name may come back.
 */
export function updateAccount(ctx: ServiceContext, id: string, patch: AccountPatch) {
  const { db, clock, actor } = ctx;
  const { version } = accounts;
  const { name, displayName, avatar, profile } = patch;
  const newName = name ?? accounts.name;
  const follows = name !== undefined && displayName === undefined;
  return db
    .update(accounts)
    .set({
      updatedAt: clock.now(),
      version: nextVersion(version),
      ...(name !== undefined && { name }),
      ...(displayName !== undefined && { displayName: displayName ?? sql`${newName}` }),
      ...(follows && {
        displayName: sql`iif(${accounts.displayName} = ${accounts.name}, ${name}, ${accounts.displayName})`,
      }),
      ...(avatar !== undefined && { avatar }),
      ...(profile !== undefined && {
        profile: profile ? sql`json_patch(${accounts.profile}, ${JSON.stringify(profile)})` : {},
      }),
    })
    .where(and(eq(accounts.id, id), isOfMember(actor), hasExpectedVersion(ctx, version)))
    .returning();
}

/**
 * Writes an act to the audit logs of the person's other organizations, if `origin` has changed a row.
 * They do not learn the credential, which is not one of theirs.
 */
export function auditElsewhere(
  { db, clock, actor }: ServiceContext,
  accountId: string,
  act: Omit<ActOnMany, "actor">,
  origin: Statement,
) {
  const { id, organizationId } = memberships;
  const service = { type: "service", membershipId: id, accountId } as const;
  return after(origin, (hasChanged) =>
    writeAuditFrom(
      { db, clock },
      organizationId,
      { ...act, actor: service },
      sql`from ${memberships} where ${eq(memberships.accountId, accountId)}
        and ${organizationId} <> ${actor.organizationId} and ${isLiveOrganization(organizationId)}
        and ${hasChanged}`,
    ),
  );
}

export function findIdentity(db: Database, actor: Actor) {
  return db
    .select({
      organizationName: sql<string>`${organizations.name}`.as("organization_name"),
      membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
      kind: memberships.kind,
      accountName: sql<string>`${accounts.name}`.as("account_name"),
      keyName: sql<string>`${apiKeys.name}`.as("key_name"),
      expiresAt: sql<
        number | null
      >`iif(${apiKeys.expiresAt} = 0, ${apiKeys.narrowedExpiresAt}, ${apiKeys.expiresAt})`.as(
        "key_expires_at",
      ),
    })
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .innerJoin(organizations, eq(organizations.id, memberships.organizationId))
    .where(and(eq(apiKeys.id, actor.keyId), isOwn(actor)));
}

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

/**
 * Of all memberships that the account has and had, and of the invitations that led to them. The cross
 * join reads the memberships first, not the audit log.
 */
export function listPersonalTargets(db: Database, accountId: string) {
  const targets = sql`(
    with record(id) as (
      select id from memberships where account_id = ${accountId}
      union select target_id from audit_log where target_type = 'member'
        and coalesce(changes ->> '$.after.account_id', changes ->> '$.before.account_id') = ${accountId}
      union select record_id from changelog_entries where record_type = 'project_member'
        and coalesce(after, before) ->> '$.account_id' = ${accountId})
    select id from record
    union select audit_log.target_id from record
      cross join audit_log on audit_log.membership_id = record.id
      where audit_log.action = 'invitation.accepted') as selected`;
  return db.select({ id: sql<string>`id`.as("id") }).from(targets);
}

export interface Erasure {
  accountId: string;
  memberships: readonly { id: string; organizationId: string }[];
  /** Null: nobody has proven that an address is theirs. */
  email: string | null;
  /** See `listPersonalTargets`. */
  targetIds: readonly string[];
  now: number;
}

/**
 * Changes nothing if an organization or a project would lose its last owner or its last owner's key, or
 * if the request expects another version.
 */
export function eraseAccount(ctx: ServiceContext, erasure: Erasure) {
  const { db, ownership, actor } = ctx;
  const { accountId, targetIds, email, now } = erasure;
  const resource = eq(accounts.id, accountId);
  const isExpected = resourceHasExpectedVersion(ctx, accounts.version, resource);
  const isErasable = sql`${canErase(erasure)} and ${isExpected}`;
  const own = sql`select id from memberships where account_id = ${accountId}`;
  const keys = erasure.memberships.map(({ id, organizationId }) => {
    const selected = sql`${eq(apiKeys.membershipId, id)} and ${isErasable}`;
    // Another organization does not learn the credential, which is not one of its own.
    const revoker = organizationId === actor.organizationId ? actor : undefined;
    const revocation = { organizationId, keys: selected, now };
    return revokeKeys(db, { ...revocation, actor: revoker });
  });
  const texts = [accountId, ...targetIds, ...(email === null ? [] : [email])];
  const ended = db
    .delete(memberships)
    .where(and(eq(memberships.accountId, accountId), isErasable))
    .returning({ id: memberships.id });
  return {
    // Before the keys, by which it finds the records of the person's own requests.
    repeats: eraseEntries(db, erasure.memberships, texts, isErasable),
    keys: Object.fromEntries(keys.map((each, at) => [`of ${at}`, each])),
    audit: eraseAuditedPerson(db, [...targetIds, accountId], isErasable),
    changelog: eraseChangedPerson(db, targetIds, isErasable),
    owned: ownership.deletionOf(db, memberships, own, isErasable),
    tombstones: keepTombstones(
      db,
      sql`${eq(memberships.accountId, accountId)} and ${isErasable}`,
      now,
    ),
    ended,
    // Last: it changes the version of the account.
    account: after(ended, (hasChanged) => erasePerson(db, accountId, now, hasChanged)),
  } satisfies Statements;
}

const ERASED_NAME = "Deleted account";

function erasePerson(db: Database, id: string, now: number, condition: SQL) {
  const names = { name: ERASED_NAME, displayName: ERASED_NAME };
  return db
    .update(accounts)
    .set({ ...names, email: id, avatar: null, profile: {}, updatedAt: now })
    .where(and(eq(accounts.id, id), condition));
}

/** Stays true while the batch deletes the keys and the project roles. */
function canErase({ accountId, memberships: known, now }: Erasure): SQL {
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
