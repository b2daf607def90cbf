import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME, TOMBSTONE_ORGANIZATION_ID } from "../../db/tombstone.ts";
import { components } from "./component-table.ts";
import { environments } from "./environment-table.ts";
import { organizations } from "./organization-table.ts";
import { projects } from "./project-table.ts";

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
    /** From 1, in the order that people gave the stacks of the environment. Null: it came after the order. */
    position: integer("position"),
    /** Null: it never has. */
    succeededAt: time("succeeded_at"),
    /** Whether its URL is the environment's. */
    showsUrl: integer("shows_url", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    uniqueIndex("stacks_environment_name").on(table.environmentId, table.name),
    index("stacks_list").on(table.environmentId, table.createdAt, table.id),
    index("stacks_component").on(table.componentId),
    index("stacks_project").on(table.projectId),
    index("stacks_url")
      .on(table.environmentId, table.succeededAt)
      .where(sql`outputs ->> 'url' is not null`),
    index("stacks_url_of_environment").on(table.environmentId).where(sql`shows_url = 1`),
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
  showsUrl: false,
};

/** The order in which an environment deploys its stacks. */
export const STACK_ORDER = sql`stacks.position is null, stacks.position, stacks.created_at, stacks.id`;
