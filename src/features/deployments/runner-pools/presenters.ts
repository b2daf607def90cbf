import { toTimestamp } from "../../../lib/clock.ts";
import type { PoolRow } from "../../tenancy/index.ts";

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

/** The fields that a request can set, as the audit log has them, too. */
export function presentPoolFields(row: PoolRow) {
  const { name, environment_ids, max_run_seconds } = presentPool(row);
  return { name, environment_ids, max_run_seconds };
}
