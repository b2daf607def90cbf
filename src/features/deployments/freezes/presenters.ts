import { toTimestamp } from "../../../lib/clock.ts";
import type { FreezeRow } from "./store.ts";

export function presentFreeze(row: FreezeRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    ...(row.projectId !== null && { project_id: row.projectId }),
    ...(row.environmentIds !== null && { environment_ids: [...row.environmentIds] }),
    name: row.name,
    reason: row.reason,
    starts_at: toTimestamp(row.startsAt),
    ends_at: toTimestamp(row.endsAt),
    override: [...row.override],
    created_by: row.createdByMembershipId,
    created_at: toTimestamp(row.createdAt),
  };
}
