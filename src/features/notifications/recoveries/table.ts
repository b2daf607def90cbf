import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../../db/columns.ts";
import { integrations } from "../../housekeeping/outbox/integration-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { RECOVERY_STATUSES } from "./model.ts";

/** Redelivers, in the background, what failed in a period. */
export const recoveries = sqliteTable(
  "recoveries",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    /** As below. */
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    integrationId: id("integration_id")
      .notNull()
      .references(() => integrations.id, { onDelete: "restrict" }),
    /** Deliveries that were created from this time. */
    since: time("since").notNull(),
    /** And before this time. */
    until: time("until").notNull(),
    status: text("status", { enum: RECOVERY_STATUSES }).notNull(),
    /** The last failed delivery that it has read. Null before the first. */
    position: id("position"),
    /** How many deliveries it has created. */
    recovered: integer("recovered").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    finishedAt: time("finished_at"),
  },
  (table) => [
    index("recoveries_project").on(table.projectId),
    index("recoveries_list").on(table.integrationId, table.createdAt, table.id),
    index("recoveries_running").on(table.id).where(sql`status = 'running'`),
  ],
);

export const isFinishedBefore = (cutoff: number) => sql`recoveries.finished_at < ${cutoff}`;
