import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../db/columns.ts";
import { organizations } from "../organizations/table.ts";

export const AUDITED_ACTIONS = [
  "variable.revealed",
  "variables.delivered",
  // By an operator, with a script:
  "owner_key.created",
  "credential.admitted",
  "credential.revoked",
] as const;

/** Has no foreign keys to the records it names, because it outlives them. */
export const auditRecords = sqliteTable(
  "audit_records",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id").notNull(),
    accountId: id("account_id").notNull(),
    membershipId: id("membership_id").notNull(),
    keyId: id("key_id").notNull(),
    action: text("action", { enum: AUDITED_ACTIONS }).notNull(),
    recordId: id("record_id").notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("audit_records_list").on(table.projectId, table.createdAt, table.id)],
);
