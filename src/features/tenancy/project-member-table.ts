import { and, type Column, eq, sql } from "drizzle-orm";
import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, version } from "../../db/columns.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { PROJECT_ROLES } from "../../lib/roles.ts";
import { memberships } from "./member-table.ts";
import { organizations } from "./organization-table.ts";
import { projects } from "./project-table.ts";

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
    /** A copy of the project's creation time, so that an index can order a member's projects. */
    projectCreatedAt: time("project_created_at").notNull(),
    version: version(),
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

/**
 * Needs a left join on `isRoleOf`. Not a subquery: in a select from one table, Drizzle drops the
 * table names in its fields, so that `project_id` would refer to the subquery's own column.
 */
export const MEMBER_ROLE = sql<ProjectRole | null>`${projectMembers.role}`.as("member_role");

/** The place of a project, and of a resource that is in none of its environments, for `authorize`. */
export const NO_ENVIRONMENT = sql<null>`null`.as("no_environment_id");

export function isRoleOf(actor: { membershipId: string }, projectId: Column) {
  return and(
    eq(projectMembers.projectId, projectId),
    eq(projectMembers.membershipId, actor.membershipId),
  );
}
