import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../db/columns.ts";
import { PROJECT_ROLES } from "../../lib/roles.ts";
import { memberships } from "../memberships/table.ts";
import { organizations } from "../organizations/table.ts";
import { projects } from "../projects/table.ts";

export const projectMembers = sqliteTable(
  "project_members",
  {
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    membershipId: id("membership_id")
      .notNull()
      .references(() => memberships.id, { onDelete: "restrict" }),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    role: text("role", { enum: PROJECT_ROLES }).notNull(),
    createdAt: createdAt(),
    /** The project's own, which never changes, so that an index can list a member's projects. */
    projectCreatedAt: time("project_created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.membershipId] }),
    index("project_members_list").on(table.projectId, table.createdAt, table.membershipId),
    index("project_members_role").on(
      table.projectId,
      table.role,
      table.createdAt,
      table.membershipId,
    ),
    index("project_members_projects").on(
      table.membershipId,
      table.projectCreatedAt,
      table.projectId,
    ),
  ],
);
