import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { ORG_ROLES } from "../../../lib/roles.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** Only open invitations: accepting or revoking one deletes it, and the audit log records it. */
export const invitations = sqliteTable(
  "invitations",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    /** In lower case. */
    email: text("email").notNull(),
    name: text("name"),
    role: text("role", { enum: ORG_ROLES }).notNull(),
    /** SHA-256 of the secret in the link, hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    createdByKeyId: id("created_by_key_id").notNull(),
    createdByMembershipId: id("created_by_membership_id").notNull(),
    createdBySessionId: id("created_by_session_id"),
    expiresAt: time("expires_at").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("invitations_secret_hash").on(table.secretHash),
    uniqueIndex("invitations_email").on(table.organizationId, table.email),
    index("invitations_list").on(table.organizationId, table.createdAt, table.id),
    index("invitations_address").on(table.email),
    index("invitations_created_by").on(table.createdByKeyId),
    index("invitations_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
  ],
);
