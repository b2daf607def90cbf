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

type Owner = SQLiteTable & { readonly id: Column; readonly organizationId: Column };

/**
 * Whether the owner of a row has not been deleted. The rows of a deleted owner keep their
 * organization until the purge.
 * @param row The name of the table or its alias in the statement.
 */
export function hasLiveOwner(owner: Owner, key: Column, row = getTableName(key.table)): SQL {
  const table = sql.identifier(row);
  return sql`exists (select 1 from ${owner} as owner where owner.id = ${table}.${sql.identifier(key.name)}
    and owner.organization_id = ${table}.organization_id)`;
}
