import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { ORG_ROLES } from "../../../lib/roles.ts";
import type { Scope } from "../../../lib/scopes.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";
import type { TrustConditions } from "./model.ts";

/** Has a membership or a pool, never both. */
export const trusts = sqliteTable(
  "trusts",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    issuer: text("issuer").notNull(),
    audience: text("audience").notNull(),
    conditions: text("conditions", { mode: "json" }).$type<TrustConditions>().notNull(),
    membershipId: id("membership_id").references(() => memberships.id, { onDelete: "restrict" }),
    poolId: id("pool_id").references(() => runnerPools.id, { onDelete: "restrict" }),
    /** The most that its keys may have, although its membership may get a higher one. Null: a pool. */
    role: text("role", { enum: ORG_ROLES }),
    /** JSON arrays. Null: all. */
    scopes: text("scopes", { mode: "json" }).$type<readonly Scope[]>(),
    projectIds: text("project_ids", { mode: "json" }).$type<readonly string[]>(),
    environmentIds: text("environment_ids", { mode: "json" }).$type<readonly string[]>(),
    ttlSeconds: integer("ttl_seconds").notNull(),
    createdByKeyId: id("created_by_key_id").notNull(),
    createdByMembershipId: id("created_by_membership_id").notNull(),
    issuedByKeyId: id("issued_by_key_id"),
    createdBySessionId: id("created_by_session_id"),
    createdAt: createdAt(),
  },
  (table) => [
    index("trusts_list").on(table.organizationId, table.createdAt, table.id),
    index("trusts_issuer").on(table.organizationId, table.issuer),
    index("trusts_membership").on(table.membershipId),
    index("trusts_pool").on(table.poolId),
    index("trusts_created_by").on(table.createdByKeyId),
    index("trusts_issued_by").on(table.issuedByKeyId).where(sql`issued_by_key_id is not null`),
    index("trusts_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
  ],
);

/** The tokens that were accepted, so that none is accepted twice, also after its trust is replaced. */
export const usedTokens = sqliteTable(
  "used_tokens",
  {
    /** SHA-256 of the organization, the issuer and the `jti`, hexadecimal. */
    id: text("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    /** After this time, the token is refused as expired. */
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("used_tokens_expires").on(table.expiresAt),
    index("used_tokens_organization").on(table.organizationId),
  ],
);
