import { and, type Column, eq, sql } from "drizzle-orm";
import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../db/columns.ts";
import type { BindValue } from "../../db/compiled-select.ts";
import type { ProjectRole } from "../../lib/roles.ts";
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

/** As much of an actor as a query asks for. */
export type Asking = { [Name in "organizationId" | "membershipId"]: BindValue };

/**
 * The actor's role in a row's project, of a select that is left-joined by `isRoleOf`. A subquery
 * would not do: Drizzle drops the tables' names inside the fields of a select from one table, and
 * the row's `project_id` would then mean the subquery's own.
 */
export const MEMBER_ROLE = sql<ProjectRole | null>`${projectMembers.role}`.as("member_role");

/** Joins the actor's role in the project that a row names. */
export function isRoleOf(actor: Asking, projectId: Column) {
  return and(
    eq(projectMembers.projectId, projectId),
    eq(projectMembers.membershipId, actor.membershipId),
  );
}
