import { and, type Column, eq, lte, or, type SQL, sql } from "drizzle-orm";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { listOf } from "../../../db/list-of.ts";
import { idOf, type OrganizationRoot } from "../../../db/ownership.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { filterBy, ownsNothing, type PurgeRow } from "./store.ts";
import { IS_ORGANIZATION, purges } from "./table.ts";

/**
 * Of organizations that have rows, or were deleted before `settledAt`. In a random order, so that none
 * has to wait for those that were deleted before it.
 */
export function listPurges(
  db: Database,
  roots: readonly OrganizationRoot[],
  { settledAt, limit }: { settledAt: number; limit: number },
): Promise<PurgeRow[]> {
  const haveRows = roots.map((root) => hasRows(root, purges.resourceId));
  const isDue = or(lte(purges.createdAt, settledAt), ...haveRows);
  return db
    .select()
    .from(purges)
    .where(and(IS_ORGANIZATION, isDue))
    .orderBy(sql`random()`)
    .limit(limit);
}

/** Those in which the organization has a row. */
export function findRootsWithRows(
  db: Database,
  roots: readonly OrganizationRoot[],
  organizationId: string,
): Promise<OrganizationRoot[]> {
  return filterBy(db, roots, (root) => hasRows(root, organizationId));
}

/** Selects the IDs of the organization's rows. */
export function selectIds({ table, key }: OrganizationRoot, organizationId: string): SQL {
  return sql`select ${idOf(table)} from ${table} where ${eq(key, organizationId)}`;
}

/** At most `limit`. Rows that still own others stay. */
export function deleteRoots(
  db: Database,
  root: OrganizationRoot,
  organizationId: string,
  limit: number,
) {
  const { table, key } = root;
  const where = and(eq(key, organizationId), ownsNothing(root));
  const some = sql`(select rowid from ${table} where ${where} limit ${limit})`;
  return db.delete(table).where(sql`${table}.rowid in ${some}`);
}

/** Like `deleteRoots`, with the accounts that nobody has proven to be theirs and no membership has. */
export async function deleteMembers(
  db: Database,
  root: OrganizationRoot,
  organizationId: string,
  limit: number,
): Promise<Statements> {
  const { id, accountId } = memberships;
  const members = await db
    .select({ id, accountId })
    .from(memberships)
    .where(and(eq(memberships.organizationId, organizationId), ownsNothing(root)))
    .limit(limit);
  const ids = listOf(members.map((member) => member.id));
  const accountIds = listOf(members.map((member) => member.accountId));
  return {
    members: db.delete(memberships).where(and(sql`${id} in ${ids}`, ownsNothing(root))),
    accounts: db.delete(accounts).where(sql`${accounts.id} in ${accountIds}
      and ${eq(accounts.email, accounts.id)}
      and not exists (select 1 from memberships where ${accountId} = ${accounts.id})`),
  };
}

/** Deletes the mark, and shares no limits any more, unless there are rows by now. */
export function endPurge(db: Database, roots: readonly OrganizationRoot[], purge: PurgeRow) {
  const haveRows = roots.map((root) => hasRows(root, purge.resourceId));
  const isEmpty = sql`not (${sql.join(haveRows, sql` or `)})`;
  return {
    limits: db
      .update(organizations)
      .set({ limitsOrganizationId: null })
      .where(and(eq(organizations.id, purge.resourceId), isEmpty)),
    ended: db.delete(purges).where(and(eq(purges.id, purge.id), isEmpty)),
  };
}

function hasRows({ table, key }: OrganizationRoot, organizationId: string | Column): SQL {
  return sql`exists (select 1 from ${table} where ${eq(key, organizationId)})`;
}
