import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";

/** A time in which no deployment starts. */
export const freezes = sqliteTable(
  "freezes",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    /** Null: all projects of the organization. */
    projectId: id("project_id").references(() => projects.id, { onDelete: "restrict" }),
    /** A JSON array. Null: all. */
    environmentIds: text("environment_ids", { mode: "json" }).$type<readonly string[]>(),
    name: text("name").notNull(),
    reason: text("reason").notNull(),
    startsAt: time("starts_at").notNull(),
    endsAt: time("ends_at").notNull(),
    /** A JSON array of memberships that may override it, beside the owners of the organization. */
    override: text("override", { mode: "json" }).$type<readonly string[]>().notNull(),
    createdByMembershipId: id("created_by_membership_id").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("freezes_list").on(table.organizationId, table.createdAt, table.id),
    index("freezes_ends").on(table.organizationId, table.endsAt),
    index("freezes_project").on(table.projectId, table.createdAt, table.id),
  ],
);
