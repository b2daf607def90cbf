import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Empty except within a batch that revokes: its first statement decides whether and which credentials end, and the
 * others read that, instead of reading again what it depends on.
 */
export const revocationParts = sqliteTable("revocation_parts", {
  id: integer("id").primaryKey(),
  /** JSON: their IDs. */
  credentials: text("credentials").notNull(),
  /** Whether none remains. */
  isLast: integer("is_last", { mode: "boolean" }).notNull(),
});
