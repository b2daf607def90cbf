import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME, TOMBSTONE_ORGANIZATION_ID } from "../../db/tombstone.ts";
import { environments } from "./environment-table.ts";
import { COMPONENT_KINDS } from "./model.ts";
import { organizations } from "./organization-table.ts";
import { projects } from "./project-table.ts";

export const components = sqliteTable(
  "components",
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
    name: text("name").notNull(),
    kind: text("kind", { enum: COMPONENT_KINDS }).notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
  },
  (table) => [
    uniqueIndex("components_environment_name").on(table.environmentId, table.name),
    index("components_list").on(table.environmentId, table.createdAt, table.id),
    index("components_project").on(table.projectId),
  ],
);

export const COMPONENT_TOMBSTONE = {
  organizationId: TOMBSTONE_ORGANIZATION_ID,
  name: TOMBSTONE_NAME,
};
