import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../../db/columns.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { RESOURCE_STATUSES } from "./model.ts";

export const resources = sqliteTable(
  "resources",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    environmentId: id("environment_id")
      .notNull()
      .references(() => environments.id, { onDelete: "restrict" }),
    stackId: id("stack_id")
      .notNull()
      .references(() => stacks.id, { onDelete: "restrict" }),
    /** The logical ID in the stack's template. */
    templateId: text("template_id").notNull(),
    /** The ID at the provider. */
    physicalId: text("physical_id").notNull(),
    resourceType: text("resource_type").notNull(),
    status: text("status", { enum: RESOURCE_STATUSES }).notNull(),
    statusReason: text("status_reason"),
    timestamp: time("timestamp").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("resources_template").on(table.stackId, table.templateId),
    index("resources_list").on(table.stackId, table.createdAt, table.id),
    index("resources_environment").on(table.environmentId, table.createdAt, table.id),
    index("resources_project").on(table.projectId),
    // Their conditions are literals: SQLite uses an index on some rows only for the same condition.
    index("resources_live")
      .on(table.stackId, table.templateId)
      .where(sql`status <> 'DELETE_COMPLETE'`),
    index("resources_deleted").on(table.updatedAt).where(sql`status = 'DELETE_COMPLETE'`),
  ],
);

export const isLive = sql`${resources.status} <> 'DELETE_COMPLETE'`;
export const isDeleted = sql`${resources.status} = 'DELETE_COMPLETE'`;
