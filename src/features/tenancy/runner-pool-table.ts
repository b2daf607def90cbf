import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../db/columns.ts";
import { DEFAULT_RUN_SECONDS } from "./model.ts";
import { organizations } from "./organization-table.ts";

export const runnerPools = sqliteTable(
  "runner_pools",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** A run that takes longer is ended, also if it sends heartbeats. */
    maxRunSeconds: integer("max_run_seconds").notNull().default(DEFAULT_RUN_SECONDS),
    version: version(),
  },
  (table) => [
    uniqueIndex("runner_pools_name").on(table.organizationId, table.name),
    index("runner_pools_list").on(table.organizationId, table.createdAt, table.id),
  ],
);
