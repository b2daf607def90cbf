import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "../../db/columns.ts";
import { organizations } from "../organizations/table.ts";
import { USAGE_KINDS } from "./model.ts";

const organizationId = () =>
  id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" });

/**
 * What an organization stores, by kind. Triggers on the counted tables maintain it, so that every
 * write counts, whichever version of the Worker makes it.
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
 * Always empty: a batch inserts a row when it would exceed a limit, which violates the constraint
 * and rolls the batch back.
 */
export const limitChecks = sqliteTable(
  "limit_checks",
  {
    organizationId: organizationId(),
    isWithin: integer("is_within").notNull(),
  },
  () => [check("limit_exceeded", sql`is_within = 1`)],
);
