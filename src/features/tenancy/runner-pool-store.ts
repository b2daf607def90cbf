import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { placeIsLive } from "../../db/tombstone.ts";
import { runnerPools } from "./runner-pool-table.ts";

export type PoolRow = Awaited<ReturnType<typeof findPool>>[number];

/** `environmentIds` is a JSON array. */
export const POOL = {
  ...getTableColumns(runnerPools),
  environmentIds: sql<string>`(select json_group_array(item.environment_id) from (
    select environment_id from runner_pool_environments
    where pool_id = runner_pools.id
      and exists (select 1 from environments as owner where owner.id = environment_id
        and owner.organization_id = runner_pools.organization_id and ${sql.raw(placeIsLive("owner", {}))})
    order by environment_id) as item)`.as("environment_ids"),
};

export function findPool(db: Database, organizationId: string, id: string) {
  return db
    .select(POOL)
    .from(runnerPools)
    .where(and(eq(runnerPools.organizationId, organizationId), eq(runnerPools.id, id)));
}
