import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./client.ts";

/** How many organizations one run reads. */
const SCANNED = 10_000;

/**
 * The IDs of some of the organizations that have rows in a table, in a random order.
 * @param condition Of the rows. An index that begins with the organization has to have it, so that one row of each
 * organization is read, however many it has.
 */
export async function listSomeOrganizations(
  db: Database,
  table: SQLiteTable,
  condition: SQL,
  limit: number,
): Promise<string[]> {
  const next = (after: SQL) =>
    sql`select min(organization_id) from ${table} where ${condition}${after}`;
  const found = await db.all<{ id: string }>(sql`
    with recursive found(id) as (
      ${next(sql``)}
      union all
      select (${next(sql` and organization_id > found.id`)}) from found where found.id is not null
      limit ${SCANNED}
    ) select id from found where id is not null order by random() limit ${limit}`);
  return found.map(({ id }) => id);
}
