import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt } from "../../../db/columns.ts";
import { components } from "../../tenancy/component-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { STORAGE_METHODS } from "./model.ts";

export const variables = sqliteTable(
  "variables",
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
    componentId: id("component_id").references(() => components.id, { onDelete: "restrict" }),
    /** The component ID, or else the environment ID: names are unique per scope. */
    scopeId: id("scope_id").notNull(),
    name: text("name").notNull(),
    storageMethod: text("storage_method", { enum: STORAGE_METHODS }).notNull(),
    resourceId: text("resource_id").notNull(),
    /** Sealed. */
    value: text("value").notNull(),
    version: integer("version").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("variables_scope_name").on(table.scopeId, table.name),
    uniqueIndex("variables_resource").on(table.resourceId),
    index("variables_list").on(table.scopeId, table.createdAt, table.id),
    index("variables_environment").on(table.environmentId),
    index("variables_component").on(table.componentId),
    index("variables_project").on(table.projectId),
  ],
);
