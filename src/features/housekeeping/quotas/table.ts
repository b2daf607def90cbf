import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { QUOTA_KINDS } from "./model.ts";

/** Those that an operator has given to an organization. */
export const quotas = sqliteTable(
  "quotas",
  {
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    kind: text("kind", { enum: QUOTA_KINDS }).notNull(),
    allowed: integer("allowed").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.kind] })],
);
