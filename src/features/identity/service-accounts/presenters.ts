import { toTimestamp } from "../../../lib/clock.ts";
import type { ServiceAccountRow } from "./store.ts";

export function presentServiceAccount(row: ServiceAccountRow) {
  return {
    membership_id: row.membershipId,
    org_id: row.organizationId,
    name: row.name,
    role: row.role,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
