import { toTimestamp } from "../../../lib/clock.ts";
import { maySee, type Reader } from "../conditions/index.ts";
import type { FreezeRow } from "./store.ts";

/** The audit log gives no actor: its entry has all environments. */
export function presentFreeze(row: FreezeRow, { actor }: { actor?: Reader } = {}) {
  const seen = row.environmentIds?.filter((id) => !actor || maySee(actor, id));
  return {
    id: row.id,
    org_id: row.organizationId,
    ...(row.projectId !== null && { project_id: row.projectId }),
    ...(seen && { environment_ids: seen }),
    name: row.name,
    reason: row.reason,
    starts_at: toTimestamp(row.startsAt),
    ends_at: toTimestamp(row.endsAt),
    override: [...row.override],
    created_by: row.createdByMembershipId,
    created_at: toTimestamp(row.createdAt),
  };
}
