import { toTimestamp } from "../../lib/clock.ts";
import type { CreatedToken, PoolRow } from "./store.ts";

export function presentPool(row: PoolRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    name: row.name,
    environment_ids: JSON.parse(row.environmentIds) as string[],
    max_run_seconds: row.maxRunSeconds,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

export function presentCreatedToken({ row, token }: CreatedToken) {
  return {
    id: row.id,
    pool_id: row.poolId,
    name: row.name,
    last_four: row.lastFour,
    created_at: toTimestamp(row.createdAt),
    token,
  };
}
