import { and, eq, sql } from "drizzle-orm";
import type { Actor, ServiceContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../db/expected-version.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { isLiveOrganization } from "../../db/tombstone.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { ApiKeyRow } from "../api-keys/index.ts";
import { memberships } from "../memberships/table.ts";
import type { Bound } from "../usage/index.ts";
import { organizations } from "./table.ts";

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
  const { recordVersion } = organizations;
  return db
    .update(organizations)
    .set({ name, updatedAt: clock.now(), recordVersion: nextVersion(recordVersion) })
    .where(
      and(eq(organizations.id, id), isLiveOrganization(id), hasExpectedVersion(ctx, recordVersion)),
    )
    .returning();
}

export function insertOrganization(db: Database, organization: OrganizationRow) {
  return db.insert(organizations).values(organization).returning();
}

export function insertOwner(
  db: Database,
  owner: { id: string; organizationId: string; accountId: string; now: number },
) {
  const { now, ...membership } = owner;
  return db
    .insert(memberships)
    .values({ ...membership, role: "owner", createdAt: now, updatedAt: now });
}

/** Whether the actor is a service account, or its key descends from a trust. */
export function findProgram(db: Database, { membershipId, keyId }: Actor) {
  return db.get<{ found: number } | undefined>(sql`
    with recursive ancestor(id) as (select ${keyId}
      union select api_keys.created_by_key_id from ancestor join api_keys on api_keys.id = ancestor.id
      union select revoked_keys.created_by_key_id from ancestor
        join revoked_keys on revoked_keys.id = ancestor.id)
    select exists (select 1 from memberships
        where memberships.id = ${membershipId} and memberships.kind = 'service_account')
      or exists (select 1 from ancestor join api_keys on api_keys.id = ancestor.id
        where api_keys.trust_id is not null) as found`);
}

/** Those that have been deleted count until their purge, so that a loop cannot create without end. */
export function ownedCountBound(accountId: string): Bound {
  const count = sql`(select count(*) from memberships
    where memberships.account_id = ${accountId} and memberships.role = 'owner')`;
  return {
    what: "organizations that an account owns",
    limit: LIMITS.ownedOrganizations.value,
    before: count,
    after: sql`${count} + 1`,
  };
}
