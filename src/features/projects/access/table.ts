import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../../db/columns.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";

/** An environment without a row has no rules. */
export const environmentProtections = sqliteTable(
  "environment_protections",
  {
    id: id("id").primaryKey(),
    environmentId: id("environment_id")
      .notNull()
      .references(() => environments.id, { onDelete: "restrict" }),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    /** JSON of `Rules`. `{}`: none. A trigger lets queued deployments keep those before a change. */
    rules: text("rules").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
  },
  (table) => [
    uniqueIndex("environment_protections_environment").on(table.environmentId),
    index("environment_protections_project").on(table.projectId),
    index("environment_protections_organization")
      .on(table.organizationId)
      .where(sql`rules <> '{}'`),
  ],
);
