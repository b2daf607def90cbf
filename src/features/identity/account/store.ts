import { and, eq, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { type ActOnMany, writeAuditFrom } from "../../housekeeping/audit/index.ts";
import type { Profile } from "../../tenancy/member-table.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { apiKeys } from "../credentials/api-key-table.ts";

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
      expiresAt: apiKeys.expiresAt,
    })
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .innerJoin(organizations, eq(organizations.id, memberships.organizationId))
    .where(and(eq(apiKeys.id, actor.keyId), isOwn(actor)));
}
