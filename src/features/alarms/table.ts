import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../db/columns.ts";
import { organizations } from "../organizations/table.ts";
import { projects } from "../projects/table.ts";
import { stacks } from "../stacks/table.ts";
import { ALARM_STATES } from "./kinds.ts";

/** What is known of the health of a stack, by the name of each alarm. */
export const alarms = sqliteTable(
  "alarms",
  {
    stackId: id("stack_id")
      .notNull()
      .references(() => stacks.id, { onDelete: "restrict" }),
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
    /** When it became what it is. */
    changedAt: time("changed_at").notNull(),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.stackId, table.name] }),
    index("alarms_project").on(table.projectId),
  ],
);
