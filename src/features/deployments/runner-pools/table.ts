import { index, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";
import { id } from "../../../db/columns.ts";
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
