import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import type { ApiKeyRow } from "../api-keys/index.ts";
import { FOUNDED, OWNED } from "./model.ts";

export interface OrganizationWithKey {
  row: { organization: OrganizationRow; apiKey: ApiKeyRow };
  /** In plain text. */
  key: string;
}

export type OrganizationRow = typeof organizations.$inferSelect;

/** A list, because a page may begin after the only organization. */
export function listOrganization(db: Database, id: string, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, organizations.createdAt, organizations.id);
  return db
    .select()
    .from(organizations)
    .where(and(eq(organizations.id, id), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findOrganization(db: Database, id: string) {
  return db
    .select()
    .from(organizations)
    .where(and(eq(organizations.id, id), isLiveOrganization(id)));
}

/** Changes nothing if the request expects another version. */
export function renameOrganization(ctx: ServiceContext, id: string, name: string) {
  const { db, clock } = ctx;
  const { version } = organizations;
  return db
    .update(organizations)
    .set({ name, updatedAt: clock.now(), version: nextVersion(version) })
    .where(and(eq(organizations.id, id), isLiveOrganization(id), hasExpectedVersion(ctx, version)))
    .returning();
}

export function insertOrganization(
  db: Database,
  organization: OrganizationRow,
  {
    condition = sql`true`,
    founderId,
  }: { condition?: SQL | undefined; founderId?: string | undefined },
) {
  const limitsOrganizationId = founderId === undefined ? null : limitsOfFoundedBy(founderId);
  const row = { ...organization, limitsOrganizationId };
  return insertFrom(db, organizations, row, sql`where ${condition}`).returning();
}

/** Null if the operator's organization, that of the bootstrap, founds it: it is then a tenant of its own. */
function limitsOfFoundedBy(founderId: string): SQL {
  return sql`iif(exists (select 1 from bootstraps where bootstraps.organization_id = ${founderId}), null,
    coalesce((select founder.limits_organization_id from organizations as founder
      where founder.id = ${founderId}), ${founderId}))`;
}

export function exists({ id }: Pick<OrganizationRow, "id">): SQL {
  return sql`exists (select 1 from organizations where organizations.id = ${id})`;
}

/** Inserts nothing unless the organization exists. */
export function insertOwner(
  db: Database,
  owner: { id: string; organizationId: string; accountId: string; now: number },
) {
  const { now, organizationId, ...ids } = owner;
  const row = { ...ids, organizationId, role: "owner", createdAt: now, updatedAt: now } as const;
  const rest = { kind: "person", status: "active", version: 1 } as const;
  // Only an account that has an address of its own has another text than its ID.
  const email = sql`(select email from accounts where id = ${owner.accountId} and email <> id)`;
  const origin = { addedByKeyId: null, addedBySessionId: null, signedInAt: null };
  const condition = sql`where ${exists({ id: organizationId })}`;
  return insertFrom(db, memberships, { ...row, ...rest, ...origin, email }, condition);
}

/** Those that have been deleted count until their purge, so that a loop cannot create without end. */
export function ownedCountBound(accountId: string): Bound {
  const count = sql`(select count(*) from memberships
    where memberships.account_id = ${accountId} and memberships.role = 'owner')`;
  return {
    what: OWNED,
    limit: LIMITS.ownedOrganizations.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Like `ownedCountBound`. A check of their quotas reads the usage of each. */
export function foundedCountBound(founderId: string): Bound {
  const shared = limitsOfFoundedBy(founderId);
  const count = sql`(select count(*) from organizations as member indexed by organizations_limits
    where member.limits_organization_id = ${shared})`;
  return {
    what: FOUNDED,
    limit: LIMITS.foundedOrganizations.value,
    before: count,
    after: sql`${count} + (${shared} is not null)`,
  };
}
