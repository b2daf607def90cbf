import { and, eq, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";

export type ServiceAccountRow = Awaited<ReturnType<typeof findServiceAccount>>[number];

const SERVICE_ACCOUNT = {
  membershipId: sql<string>`${memberships.id}`.as("membership_id"),
  organizationId: memberships.organizationId,
  accountId: memberships.accountId,
  name: accounts.name,
  role: memberships.role,
  createdAt: sql<number>`${memberships.createdAt}`.as("membership_created_at"),
  updatedAt: sql<number>`${memberships.updatedAt}`.as("membership_updated_at"),
  version: memberships.version,
};

// A literal, because SQLite does not use a partial index for a bound parameter.
const ofOrganization = (organizationId: string) =>
  and(eq(memberships.organizationId, organizationId), sql`${memberships.kind} = 'service_account'`);

const within = (organizationId: string, id: string) =>
  and(ofOrganization(organizationId), eq(memberships.id, id));

export function listServiceAccounts(db: Database, organizationId: string, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, memberships.createdAt, memberships.id);
  return db
    .select(SERVICE_ACCOUNT)
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(and(ofOrganization(organizationId), hasName(page, accounts.name), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findServiceAccount(db: Database, organizationId: string, id: string) {
  return db
    .select(SERVICE_ACCOUNT)
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .where(within(organizationId, id));
}

export interface NewServiceAccount {
  accountId: string;
  membershipId: string;
  organizationId: string;
  name: string;
  role: OrgRole;
  now: number;
}

/** The account's `email` is its own ID, which is no address: nobody can sign in as it. */
export function insertServiceAccount(db: Database, created: NewServiceAccount) {
  const { accountId, membershipId, organizationId, name, role, now } = created;
  const times = { createdAt: now, updatedAt: now };
  const account = { id: accountId, email: accountId, name, displayName: name, profile: {} };
  const membership = { id: membershipId, organizationId, accountId, role, ...times };
  const inserted = db.insert(accounts).values({ ...account, ...times });
  return {
    account: inserted,
    membership: after(inserted, () =>
      db.insert(memberships).values({ ...membership, kind: "service_account" }),
    ),
  };
}

/** Changes nothing if the role is no longer `from`, or if the request expects another version. */
export function updateMembership(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  { role, now }: { role: { from: OrgRole; to: OrgRole } | undefined; now: number },
) {
  const { version } = memberships;
  return ctx.db
    .update(memberships)
    .set({ role: role?.to, updatedAt: now, version: nextVersion(version) })
    .where(
      and(
        within(organizationId, id),
        role && eq(memberships.role, role.from),
        hasExpectedVersion(ctx, version),
      ),
    )
    .returning({ id: memberships.id });
}

/** Changes nothing unless `updated`, the update of its membership, has changed a row. */
export function renameAccount(
  db: Database,
  organizationId: string,
  id: string,
  { name, now }: { name: string; now: number },
  updated: Statement,
) {
  const account = db
    .select({ id: memberships.accountId })
    .from(memberships)
    .where(within(organizationId, id));
  return after(updated, (hasChanged) =>
    db
      .update(accounts)
      .set({ name, displayName: name, updatedAt: now, version: nextVersion(accounts.version) })
      .where(and(sql`${accounts.id} = (${account})`, hasChanged)),
  );
}
