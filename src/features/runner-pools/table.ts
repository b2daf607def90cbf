import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../db/columns.ts";
import { environments } from "../environments/table.ts";
import { organizations } from "../organizations/table.ts";
import { DEFAULT_RUN_SECONDS } from "./model.ts";

export const runnerPools = sqliteTable(
  "runner_pools",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    name: text("name").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** A run that takes longer is ended, also if it sends heartbeats. */
    maxRunSeconds: integer("max_run_seconds").notNull().default(DEFAULT_RUN_SECONDS),
    version: version(),
  },
  (table) => [
    uniqueIndex("runner_pools_name").on(table.organizationId, table.name),
    index("runner_pools_list").on(table.organizationId, table.createdAt, table.id),
  ],
);

export const runnerPoolEnvironments = sqliteTable(
  "runner_pool_environments",
  {
    poolId: id("pool_id")
      .notNull()
      .references(() => runnerPools.id, { onDelete: "restrict" }),
    environmentId: id("environment_id")
      .notNull()
      .references(() => environments.id, { onDelete: "restrict" }),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
  },
  (table) => [
    primaryKey({ columns: [table.poolId, table.environmentId] }),
    index("runner_pool_environments_environment").on(table.environmentId),
  ],
);

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
