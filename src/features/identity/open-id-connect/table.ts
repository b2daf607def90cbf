import { index, sqliteTable } from "drizzle-orm/sqlite-core";
import { id, time } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** Sign-ins that have succeeded, until they expire, so that none succeeds again. */
export const usedSignIns = sqliteTable(
  "used_sign_ins",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("used_sign_ins_expires").on(table.expiresAt),
    index("used_sign_ins_organization").on(table.organizationId),
  ],
);
