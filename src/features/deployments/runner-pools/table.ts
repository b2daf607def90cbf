import { index, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id, time } from "../../../db/columns.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";

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

/** The runners that have asked for work. In a full pool, a new runner takes the row of the oldest. */
export const runners = sqliteTable(
  "runners",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    poolId: id("pool_id")
      .notNull()
      .references(() => runnerPools.id, { onDelete: "restrict" }),
    tokenId: id("token_id").notNull(),
    /** Empty: the runner sends none. */
    name: text("name").notNull(),
    version: text("version"),
    /** The only deployment that it claims. Null: any of the pool. */
    wantedId: id("wanted_id"),
    createdAt: createdAt(),
    /** Up to `LIMITS.runnerSavedMs` old. */
    lastSeenAt: time("last_seen_at").notNull(),
  },
  (table) => [
    uniqueIndex("runners_name").on(table.poolId, table.tokenId, table.name),
    index("runners_seen").on(table.poolId, table.wantedId, table.lastSeenAt),
    index("runners_list").on(table.poolId, table.createdAt, table.id),
  ],
);
