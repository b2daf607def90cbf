import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";

export const runnerTokens = sqliteTable(
  "runner_tokens",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    poolId: id("pool_id")
      .notNull()
      .references(() => runnerPools.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    /** SHA-256 of the secret, hexadecimal. It also names the token's rate limiter. */
    secretHash: text("secret_hash").notNull(),
    lastFour: text("last_four").notNull(),
    /** The token's rate limiter has a copy. */
    version: integer("version").notNull().default(1),
    /** To the hour. */
    lastUsedAt: time("last_used_at"),
    createdAt: createdAt(),
    /** Null: never. */
    expiresAt: time("expires_at"),
    createdByKeyId: id("created_by_key_id"),
    createdByMembershipId: id("created_by_membership_id"),
    issuedByKeyId: id("issued_by_key_id"),
    createdBySessionId: id("created_by_session_id"),
    /** The key that made it by a rotation. It is in the family of that key, too. */
    rotatedByKeyId: id("rotated_by_key_id"),
    /** Of a token that a CI job received for its own token. It does not count toward the quota. */
    trustId: id("trust_id"),
  },
  (table) => [
    uniqueIndex("runner_tokens_secret_hash").on(table.secretHash),
    index("runner_tokens_pool").on(table.poolId),
    index("runner_tokens_list").on(table.poolId, table.createdAt, table.id),
    index("runner_tokens_trust")
      .on(table.trustId, table.expiresAt)
      .where(sql`trust_id is not null`),
    index("runner_tokens_trust_expires").on(table.expiresAt).where(sql`trust_id is not null`),
    index("runner_tokens_created_by").on(table.createdByKeyId),
    index("runner_tokens_created_by_without_trust")
      .on(table.createdByKeyId)
      .where(sql`trust_id is null`),
    index("runner_tokens_issued_by")
      .on(table.issuedByKeyId)
      .where(sql`issued_by_key_id is not null`),
    index("runner_tokens_created_by_session")
      .on(table.createdBySessionId)
      .where(sql`created_by_session_id is not null`),
    index("runner_tokens_rotated_by")
      .on(table.rotatedByKeyId)
      .where(sql`rotated_by_key_id is not null`),
  ],
);
