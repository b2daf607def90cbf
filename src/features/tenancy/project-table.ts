import { sql } from "drizzle-orm";
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME, TOMBSTONE_ORGANIZATION_ID } from "../../db/tombstone.ts";
import { CONNECTION_STATUSES } from "./model.ts";
import { organizations } from "./organization-table.ts";

export const projects = sqliteTable(
  "projects",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    description: text("description"),
    icon: text("icon"),
    repoId: id("repo_id"),
    /** No foreign key: it would be circular, because an environment refers to its project. */
    defaultEnvironmentId: id("default_environment_id").notNull(),
    connectionStatus: text("connection_status", { enum: CONNECTION_STATUSES }).notNull(),
    /** When somebody last disconnected the project. Null: nobody has, or it is connected again. */
    disconnectedAt: time("disconnected_at"),
    /** The membership that did. It may be gone since. */
    disconnectedBy: id("disconnected_by"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
  },
  (table) => [
    index("projects_name").on(table.organizationId, table.name, table.createdAt, table.id),
    index("projects_list").on(table.organizationId, table.createdAt, table.id),
    index("projects_disconnecting").on(table.id).where(sql`connection_status = 'disconnecting'`),
  ],
);

export const PROJECT_TOMBSTONE = {
  organizationId: TOMBSTONE_ORGANIZATION_ID,
  name: TOMBSTONE_NAME,
  description: null,
  icon: null,
  repoId: null,
  connectionStatus: "disconnected",
} as const;
