import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../../db/columns.ts";
import { TOMBSTONE_NAME, TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { components } from "../components/table.ts";

export const stacks = sqliteTable(
  "stacks",
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
    name: text("name").notNull(),
    /** JSON: an object of the outputs of the last success, by name. */
    outputs: text("outputs").notNull().default("{}"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
    /** The UTF-8 bytes of the stack's resources when the schedule last counted them. */
    resourceBytes: integer("resource_bytes").notNull().default(0),
    /** When they first changed since. Null: they have not. */
    resourcesChangedAt: time("resources_changed_at"),
  },
  (table) => [
    uniqueIndex("stacks_environment_name").on(table.environmentId, table.name),
    index("stacks_list").on(table.environmentId, table.createdAt, table.id),
    index("stacks_component").on(table.componentId),
    index("stacks_project").on(table.projectId),
    index("stacks_url")
      .on(table.environmentId, table.createdAt, table.id)
      .where(sql`outputs ->> 'url' is not null`),
    index("stacks_changed")
      .on(table.organizationId, table.resourcesChangedAt)
      .where(sql`resources_changed_at is not null`),
  ],
);

export const STACK_TOMBSTONE = {
  organizationId: TOMBSTONE_ORGANIZATION_ID,
  name: TOMBSTONE_NAME,
  componentId: null,
  outputs: "{}",
};
