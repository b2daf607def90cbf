import { sql } from "drizzle-orm";
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { CHANGED_TYPES } from "../../../lib/resource-types.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { ACTIONS } from "./model.ts";

/** Has no foreign keys to the resource and the account it names, because it outlives them. */
export const changelogEntries = sqliteTable(
  "changelog_entries",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    /** Null for a change by the service itself. */
    accountId: id("account_id"),
    membershipId: id("membership_id"),
    keyId: id("key_id"),
    action: text("action", { enum: ACTIONS }).notNull(),
    resourceType: text("record_type", { enum: CHANGED_TYPES }).notNull(),
    resourceId: id("record_id").notNull(),
    resourceName: text("record_name"),
    /** JSON: the changed fields before the change. */
    before: text("before"),
    /** JSON: the same fields after the change. */
    after: text("after"),
    createdAt: createdAt(),
  },
  (table) => [
    index("changelog_entries_organization").on(table.organizationId, table.id),
    index("changelog_entries_list").on(table.projectId, table.createdAt, table.id),
    // For the erasure of an account, as the index changelog_entries_account in
    // migrations/definitions/, whose expression drizzle-kit cannot generate.
    index("changelog_entries_member")
      .on(table.resourceId)
      .where(sql`record_type = 'project_member'`),
  ],
);
