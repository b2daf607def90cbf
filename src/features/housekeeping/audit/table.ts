import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { AUDITED_ACTIONS, TARGET_TYPES } from "../../../lib/resource-types.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { ACTOR_TYPES, OUTCOMES } from "./model.ts";

/**
 * Has no foreign keys to the resources it names, because it outlives them. The index audit_log_account is in
 * migrations/definitions/, because drizzle-kit cannot generate its expression.
 */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    createdAt: createdAt(),
    action: text("action", { enum: AUDITED_ACTIONS }).notNull(),
    outcome: text("outcome", { enum: OUTCOMES }).notNull(),
    actorType: text("actor_type", { enum: ACTOR_TYPES }).notNull(),
    /** Of the key, the session, the link, the runner token, the invitation or the trust. */
    credentialId: id("credential_id"),
    membershipId: id("membership_id"),
    accountId: id("account_id"),
    /** Of a runner token. */
    poolId: id("pool_id"),
    /** The key and the membership that created the credential. Of a session: its key. */
    creatorKeyId: id("creator_key_id"),
    creatorMembershipId: id("creator_membership_id"),
    targetType: text("target_type", { enum: TARGET_TYPES }).notNull(),
    targetId: id("target_id").notNull(),
    /** At the time of the action. */
    targetName: text("target_name"),
    projectId: id("project_id"),
    clientAddress: text("client_address"),
    userAgent: text("user_agent"),
    requestId: text("request_id"),
    /** JSON: `{before?, after?}`. */
    changes: text("changes"),
  },
  (table) => [
    index("audit_log_list").on(table.organizationId, table.createdAt, table.id),
    index("audit_log_project").on(table.projectId, table.createdAt, table.id),
    index("audit_log_credential").on(table.credentialId, table.createdAt, table.id),
    index("audit_log_membership").on(table.membershipId, table.createdAt, table.id),
    index("audit_log_target").on(table.targetId, table.createdAt, table.id),
    index("audit_log_action").on(table.organizationId, table.action, table.createdAt, table.id),
  ],
);

/** How many entries an organization has had on its last day with one. A trigger counts, and refuses more. */
export const auditDays = sqliteTable("audit_days", {
  organizationId: id("organization_id")
    .primaryKey()
    .references(() => organizations.id, { onDelete: "restrict" }),
  /** Days since the Unix epoch (UTC). */
  day: integer("day").notNull(),
  entries: integer("entries").notNull(),
  bytes: integer("bytes").notNull().default(0),
});
