import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../db/columns.ts";
import { ORG_ROLES } from "../../lib/roles.ts";
import { memberships } from "../memberships/table.ts";
import { organizations } from "../organizations/table.ts";

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id")
      .notNull()
      .references(() => memberships.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    role: text("role", { enum: ORG_ROLES }).notNull(),
    /** SHA-256 of the secret, hexadecimal. It also names the key's rate limiter. */
    secretHash: text("secret_hash").notNull(),
    lastFour: text("last_four").notNull(),
    /** Increases with every change to the key's permissions. The key's rate limiter has a copy. */
    version: integer("version").notNull().default(1),
    expiresAt: time("expires_at"),
    /** To the hour. */
    lastUsedAt: time("last_used_at"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("api_keys_secret_hash").on(table.secretHash),
    index("api_keys_list").on(table.organizationId, table.createdAt, table.id),
    index("api_keys_membership").on(table.membershipId),
  ],
);
