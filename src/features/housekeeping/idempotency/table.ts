import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** What the response to a repeated request is built from. */
export const idempotencyRecords = sqliteTable(
  "idempotency_records",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    /** The API key, which may have been revoked since. */
    credentialId: id("credential_id").notNull(),
    /** As the `Idempotency-Key` header. */
    key: text("key").notNull(),
    /** HMAC-SHA-256 of method, path, query and body, hexadecimal. The API key is its key. */
    fingerprint: text("fingerprint").notNull(),
    /** The status of the response. */
    status: integer("status").notNull(),
    /** JSON: a `StoredResult`. */
    result: text("result").notNull(),
    /** Sealed JSON: the one-time secrets of the response. Empty: none. */
    secrets: text("secrets").notNull(),
    /** JSON: the keys whose caches a repeat invalidates again. */
    changedKeys: text("changed_keys").notNull(),
    createdAt: createdAt(),
    /** The bytes of all earlier entries of the credential. A trigger sets it. */
    precedingBytes: integer("preceding_bytes").notNull().default(0),
  },
  (table) => [
    uniqueIndex("idempotency_records_key").on(table.credentialId, table.key),
    index("idempotency_records_size").on(table.organizationId, table.precedingBytes),
    index("idempotency_records_credential").on(table.credentialId, table.precedingBytes),
    index("idempotency_records_age").on(table.createdAt),
  ],
);

/** The bytes of the entries of an organization, which triggers add up. */
export const idempotencyTotals = sqliteTable("idempotency_totals", {
  organizationId: id("organization_id")
    .primaryKey()
    .references(() => organizations.id, { onDelete: "restrict" }),
  bytes: integer("bytes").notNull(),
});
