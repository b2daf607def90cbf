import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, time } from "../../../db/columns.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";

/**
 * How many deployments of an environment have ended on a day, and how. A trigger on `deployments` counts them
 * (migrations/definitions/deployment-days.sql), so that no way to end one can leave it out.
 */
export const deploymentDays = sqliteTable(
  "deployment_days",
  {
    /** Of the first deployment that was counted. */
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
    /** Days since the Unix epoch (UTC). */
    day: integer("day").notNull(),
    succeeded: integer("succeeded").notNull(),
    failed: integer("failed").notNull(),
    canceled: integer("canceled").notNull(),
    superseded: integer("superseded").notNull(),
    /** JSON: how many of those that had started waited for how long, by bucket: see `Histogram`. */
    queued: text("queued").notNull(),
    /** JSON: the same of how long they ran. */
    run: text("run").notNull(),
    /** Successes after a failure. */
    recoveries: integer("recoveries").notNull(),
    /** The sum of the times from the first failure after a success to the next success. */
    recoveryMs: integer("recovery_ms").notNull(),
    /** At the end of the day, or now: when the first deployment failed after the last success. Null: none has. */
    failingSince: time("failing_since"),
  },
  (table) => [
    uniqueIndex("deployment_days_list").on(table.environmentId, table.day),
    index("deployment_days_project").on(table.projectId),
  ],
);
