import { sql } from "drizzle-orm";
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";

// SQL literals, because SQLite does not use a partial index for a bound parameter.
export const IS_ORGANIZATION = sql`record_type = 'organization'`;
export const IS_RESOURCE = sql`record_type <> 'organization'`;

/** A deleted resource whose data the purge still has to remove. */
export const purges = sqliteTable(
  "purges",
  {
    id: id("id").primaryKey(),
    /** The organization that it belonged to. */
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    resourceType: text("record_type", {
      enum: ["organization", "project", "environment", "component", "stack", "integration"],
    }).notNull(),
    resourceId: id("record_id").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("purges_resources").on(table.organizationId, table.id).where(IS_RESOURCE),
    index("purges_organizations").on(table.organizationId).where(IS_ORGANIZATION),
  ],
);
