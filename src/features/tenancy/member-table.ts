import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../db/columns.ts";
import { ORG_ROLES } from "../../lib/roles.ts";
import { MEMBER_KINDS, MEMBER_STATUSES } from "./model.ts";
import { organizations } from "./organization-table.ts";

export interface Profile {
  bio?: string | undefined;
  github?: string | undefined;
  location?: string | undefined;
  twitter?: string | undefined;
  website?: string | undefined;
}

/** The only table without a tenant: an account may belong to several organizations. */
export const accounts = sqliteTable(
  "accounts",
  {
    id: id("id").primaryKey(),
    /**
     * In lower case. Private: no response contains it. Its own ID, which is no address, in an account
     * that nobody has proven to be theirs: that of a service account, or of a person whom an
     * organization has added.
     */
    email: text("email").notNull(),
    name: text("name").notNull(),
    displayName: text("display_name").notNull(),
    avatar: text("avatar"),
    profile: text("profile", { mode: "json" }).$type<Profile>().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
  },
  (table) => [uniqueIndex("accounts_email").on(table.email)],
);

export const memberships = sqliteTable(
  "memberships",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    accountId: id("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "restrict" }),
    role: text("role", { enum: ORG_ROLES }).notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    kind: text("kind", { enum: MEMBER_KINDS }).notNull().default("person"),
    /** A pending membership has no keys and no projects until the person accepts it. */
    status: text("status", { enum: MEMBER_STATUSES }).notNull().default("active"),
    /** The address that the person was added with, in lower case. Private. */
    email: text("email"),
    /** What added the membership: itself, or by an invitation. Null: the founder. */
    addedByKeyId: id("added_by_key_id"),
    addedBySessionId: id("added_by_session_id"),
    /** The last sign-in with the address. Null: the person has not joined by a sign-in. */
    signedInAt: time("signed_in_at"),
    version: version(),
  },
  (table) => [
    uniqueIndex("memberships_organization_email").on(table.organizationId, table.email),
    uniqueIndex("memberships_organization_account").on(table.organizationId, table.accountId),
    index("memberships_list").on(table.organizationId, table.createdAt, table.id),
    index("memberships_service_accounts")
      .on(table.organizationId, table.createdAt, table.id)
      .where(sql`kind = 'service_account'`),
    index("memberships_role").on(table.organizationId, table.role),
    index("memberships_email").on(table.email),
    index("memberships_added_by").on(table.addedByKeyId).where(sql`added_by_key_id is not null`),
    index("memberships_added_by_session")
      .on(table.addedBySessionId)
      .where(sql`added_by_session_id is not null`),
    index("memberships_account").on(table.accountId, table.role),
  ],
);

/**
 * What remains of a membership that was added with a credential, so that the family of that names it, and
 * what it has made can be ended.
 */
export const removedMemberships = sqliteTable(
  "removed_memberships",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    addedByKeyId: id("added_by_key_id"),
    addedBySessionId: id("added_by_session_id"),
    createdAt: createdAt(),
    removedAt: time("removed_at").notNull(),
  },
  (table) => [
    index("removed_memberships_organization").on(table.organizationId),
    index("removed_memberships_added_by").on(table.addedByKeyId),
    index("removed_memberships_added_by_session").on(table.addedBySessionId),
  ],
);
