import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** A deleted resource whose data the purge still has to remove. */
export const purges = sqliteTable("purges", {
  id: id("id").primaryKey(),
  /** The organization that it belonged to. */
  organizationId: id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" }),
  resourceType: text("record_type", {
    enum: ["organization", "project", "environment", "stack", "integration"],
  }).notNull(),
  resourceId: id("record_id").notNull(),
  createdAt: createdAt(),
});
