import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../db/columns.ts";
import { organizations } from "../organizations/table.ts";
import { projects } from "../projects/table.ts";
import { ACTIONS, RECORD_TYPES } from "./model.ts";

/**
 * Who did what to which record of a project, when. An entry outlives the record and the person, so
 * it names them without foreign keys; it holds no secret of either.
 */
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
    /** None: the service did it by itself. */
    accountId: id("account_id"),
    membershipId: id("membership_id"),
    keyId: id("key_id"),
    action: text("action", { enum: ACTIONS }).notNull(),
    recordType: text("record_type", { enum: RECORD_TYPES }).notNull(),
    recordId: id("record_id").notNull(),
    recordName: text("record_name"),
    /** JSON: the fields that changed, as they were. */
    before: text("before"),
    /** JSON: the same fields, as they are since. */
    after: text("after"),
    createdAt: createdAt(),
  },
  (table) => [index("changelog_entries_list").on(table.projectId, table.createdAt, table.id)],
);
