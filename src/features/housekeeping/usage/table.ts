import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { COUNTED_HISTORY, USAGE_KINDS } from "./model.ts";

const organizationId = () =>
  id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" });

/**
 * Maintained by triggers on the counted tables, so that writes by every version of the Worker
 * count.
 */
export const usage = sqliteTable(
  "usage",
  {
    organizationId: organizationId(),
    kind: text("kind", { enum: USAGE_KINDS }).notNull(),
    records: integer("records").notNull(),
    /** UTF-8 bytes of all columns. */
    bytes: integer("bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.kind] })],
);

/**
 * The history of an organization up to `historyPositions`. The schedule adds new rows; triggers remove
 * those that are deleted, and add deployments once they are beyond the newest of their environment.
 */
export const historyUsage = sqliteTable(
  "history_usage",
  {
    organizationId: organizationId(),
    kind: text("kind", { enum: COUNTED_HISTORY }).notNull(),
    records: integer("records").notNull(),
    /** UTF-8 bytes of all columns. */
    bytes: integer("bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.kind] })],
);

/** The last rowid of a table that `historyUsage` counts. */
export const historyPositions = sqliteTable("history_positions", {
  tableName: text("table_name").primaryKey(),
  position: integer("position").notNull(),
});

/**
 * Always empty: a batch that would exceed a limit inserts a row, which violates the constraint and
 * rolls the batch back.
 */
export const limitChecks = sqliteTable(
  "limit_checks",
  {
    organizationId: organizationId(),
    isWithin: integer("is_within").notNull(),
  },
  () => [check("limit_exceeded", sql`is_within = 1`)],
);
