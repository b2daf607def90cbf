import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { ALARM_STATES } from "./model.ts";

export const alarms = sqliteTable(
  "alarms",
  {
    id: id("id").primaryKey(),
    stackId: id("stack_id")
      .notNull()
      .references(() => stacks.id, { onDelete: "restrict" }),
    /** The stack's. */
    environmentId: id("environment_id").notNull(),
    /** The system that reports the alarm, in which its name is unique. Empty: not stated. */
    source: text("source").notNull().default(""),
    name: text("name").notNull(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    state: text("state", { enum: ALARM_STATES }).notNull(),
    reason: text("reason"),
    createdAt: createdAt(),
    /** When `state` last changed. */
    changedAt: time("changed_at").notNull(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("alarms_name").on(table.stackId, table.source, table.name),
    index("alarms_list").on(table.stackId, table.createdAt, table.id),
    index("alarms_project").on(table.projectId),
    index("alarms_environment").on(table.environmentId, table.state, table.changedAt, table.id),
  ],
);
