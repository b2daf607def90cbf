import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME } from "../../db/tombstone.ts";

export const organizations = sqliteTable(
  "organizations",
  {
    id: id("id").primaryKey(),
    name: text("name").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** The maximum lifetime of new API keys. Null: unlimited. */
    maxKeyAgeSeconds: integer("max_key_age_seconds"),
    /** Its share of the deliveries while several organizations wait, relative to theirs. */
    deliveryWeight: integer("delivery_weight").notNull().default(1),
    version: version(),
    /** Whose limits it shares: those of the organization that founded it. Null: its own. */
    limitsOrganizationId: id("limits_organization_id"),
  },
  (table) => [
    index("organizations_limits")
      .on(table.limitsOrganizationId)
      .where(sql`limits_organization_id is not null`),
    // Of the others, a write reads no row.
    index("organizations_founded")
      .on(table.id, table.limitsOrganizationId)
      .where(sql`limits_organization_id is not null`),
  ],
);

/** The organization whose rate limits and budget a credential counts against. */
export function limitsOrganizationId(organizationId: SQLWrapper): SQL.Aliased<string> {
  return sql<string>`coalesce((select organizations.limits_organization_id from organizations
    where organizations.id = ${organizationId}), ${organizationId})`.as("limits_organization_id");
}

export const ORGANIZATION_TOMBSTONE = {
  name: TOMBSTONE_NAME,
  maxKeyAgeSeconds: null,
  deliveryWeight: 1,
};
