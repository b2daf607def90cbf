import { type SQL, sql } from "drizzle-orm";

/** What the person or the service account is called now that has made an entry. Null: it has been removed, or is none. */
export function memberNameOf(row: "audit_log" | "changelog_entries"): SQL<string | null> {
  const entry = sql.raw(row);
  return sql`(select accounts.display_name from memberships
    join accounts on accounts.id = memberships.account_id
    where memberships.id = ${entry}.membership_id
      and memberships.organization_id = ${entry}.organization_id)`;
}
