import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { listOf } from "../../../db/list-of.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";

/** The rules of an environment as JSON. Null: none. */
export function rulesOf(environmentId: SQLWrapper): SQL<string | null> {
  return sql`(select nullif(protection.rules, '{}') from environment_protections as protection
    where protection.environment_id = ${environmentId})`;
}

export function selectRules(environmentId: SQLWrapper) {
  return rulesOf(environmentId).as("rules");
}

/** Of those that exist, in the order of the IDs. */
export function listMembers(db: Database, organizationId: string, ids: readonly string[]) {
  return db
    .select({
      id: sql<string>`${memberships.id}`.as("membership_id"),
      kind: memberships.kind,
      status: memberships.status,
      name: accounts.displayName,
    })
    .from(memberships)
    .innerJoin(accounts, sql`${accounts.id} = ${memberships.accountId}`)
    .where(
      sql`${memberships.organizationId} = ${organizationId} and ${memberships.id} in ${listOf(ids)}`,
    )
    .orderBy(memberships.id);
}
