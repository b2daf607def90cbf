import { type Column, getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * Tombstones belong to this organization, which has no members, so that no request of a tenant finds
 * them. Migration 0010 has the ID, too.
 */
export const TOMBSTONE_ORGANIZATION_ID = "1".repeat(22);

/** With a control character, which names of resources cannot have, so that every name is free. */
export const TOMBSTONE_NAME = sql<string>`char(127) || id`;

/**
 * Whether an organization has not been deleted. Its row stays as a tombstone for good: SQLite would read
 * all rows of the tables that refer to it without an index, in order to delete it.
 */
export function isLiveOrganization(id: SQLWrapper | string): SQL {
  return sql`exists (select 1 from organizations as live
    where live.id = ${id} and live.name <> char(127) || live.id)`;
}

type Owner = SQLiteTable & {
  readonly id: Column;
  readonly organizationId: Column;
  readonly projectId: Column;
  readonly environmentId?: Column;
};

/**
 * Whether the owner of a row has not been deleted, nor what that is in. The rows of a deleted owner keep
 * their organization until the purge.
 * @param row The name of the table or its alias in the statement.
 */
export function hasLiveOwner(owner: Owner, key: Column, row = getTableName(key.table)): SQL {
  const table = sql.identifier(row);
  return sql`exists (select 1 from ${owner} as owner where owner.id = ${table}.${sql.identifier(key.name)}
    and owner.organization_id = ${table}.organization_id and ${sql.raw(placeIsLive("owner", owner))})`;
}

/** Whether what a row is in has not been deleted: its project and, if it has one, its environment. */
export function isInLivePlace(
  table: Pick<Owner, "projectId" | "environmentId"> & SQLiteTable,
): SQL {
  return sql.raw(placeIsLive(getTableName(table), table));
}

/** Of the table `variables`: whether the component of a row, if it has one, has not been deleted. */
export const HAS_LIVE_COMPONENT = sql.raw(`(variables.component_id is null
  or exists (select 1 from components as place where place.id = variables.component_id
    and place.organization_id = variables.organization_id))`);

/** @param row The name of the table or its alias in the statement. */
export function placeIsLive(row: string, { environmentId }: { environmentId?: unknown }): string {
  const isLive = (table: string, key: string) => `exists (select 1 from ${table} as place
    where place.id = ${row}.${key} and place.organization_id = ${row}.organization_id)`;
  const inProject = isLive("projects", "project_id");
  return environmentId === undefined
    ? inProject
    : `${isLive("environments", "environment_id")} and ${inProject}`;
}
