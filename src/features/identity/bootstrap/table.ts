import { sql } from "drizzle-orm";
import { check, integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** Contains at most one row: inserting it is the bootstrap, which succeeds once. */
export const bootstraps = sqliteTable(
  "bootstraps",
  {
    only: integer("only").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    createdAt: createdAt(),
  },
  (table) => [check("bootstraps_only_one", sql`${table.only} = 1`)],
);
