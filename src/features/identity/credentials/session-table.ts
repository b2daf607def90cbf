import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { SESSION_SOURCES } from "./model.ts";

/** Of people at a browser. A session that ends leaves a tombstone. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id")
      .notNull()
      .references(() => memberships.id, { onDelete: "restrict" }),
    source: text("source", { enum: SESSION_SOURCES }).notNull(),
    /** Whose authority it has. Without this key, the session is refused. */
    keyId: id("key_id"),
    /** The session that it continues: of a link that was created in it, or before a switch. */
    createdBySessionId: id("created_by_session_id"),
    /** SHA-256 of the secret, hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    /** Of the browser that signed in. */
    userAgent: text("user_agent"),
    createdAt: createdAt(),
    /** At the latest: it also ends by not being used. */
    expiresAt: time("expires_at").notNull(),
    lastUsedAt: time("last_used_at"),
  },
  (table) => [
    uniqueIndex("sessions_secret_hash").on(table.secretHash),
    index("sessions_list").on(table.membershipId, table.createdAt, table.id),
    index("sessions_organization").on(table.organizationId),
    index("sessions_key").on(table.keyId),
    index("sessions_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
  ],
);

/** What remains of a session that has ended, so that what was made in it can be found and revoked. */
export const endedSessions = sqliteTable(
  "ended_sessions",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id").notNull(),
    source: text("source", { enum: SESSION_SOURCES }).notNull(),
    keyId: id("key_id"),
    createdBySessionId: id("created_by_session_id"),
    createdAt: createdAt(),
    endedAt: time("ended_at").notNull(),
  },
  (table) => [
    index("ended_sessions_list").on(table.membershipId, table.createdAt, table.id),
    index("ended_sessions_retention").on(table.organizationId, table.createdAt, table.id),
    index("ended_sessions_key").on(table.keyId),
    index("ended_sessions_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
  ],
);

/** Only unused links: signing in with one deletes it, and the audit log records it. */
export const signInLinks = sqliteTable(
  "sign_in_links",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    membershipId: id("membership_id")
      .notNull()
      .references(() => memberships.id, { onDelete: "restrict" }),
    /** Whose authority its session gets. Without this key, the link is refused. */
    keyId: id("key_id").notNull(),
    /** The session that created it. Null: the key itself. */
    createdBySessionId: id("created_by_session_id"),
    /** Its session lasts no longer than the one that created the link. Null: no such limit. */
    sessionExpiresAt: time("session_expires_at"),
    /** SHA-256 of the secret in the link, hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    createdAt: createdAt(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("sign_in_links_secret_hash").on(table.secretHash),
    index("sign_in_links_membership").on(table.membershipId),
    index("sign_in_links_organization").on(table.organizationId),
    index("sign_in_links_key").on(table.keyId),
    index("sign_in_links_created_by_session").on(table.createdBySessionId),
  ],
);
