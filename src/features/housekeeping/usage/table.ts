import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { USAGE_KINDS } from "./model.ts";

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
    /** UTF-8 bytes of the columns that callers write. */
    bytes: integer("bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.kind] })],
);

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
