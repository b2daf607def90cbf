import { toTimestamp } from "../../../lib/clock.ts";
import type { RecoveryRow } from "./store.ts";

export function presentRecovery(row: RecoveryRow) {
  return {
    id: row.id,
    integration_id: row.integrationId,
    status: row.status,
    since: toTimestamp(row.since),
    until: toTimestamp(row.until),
    delivery_count: row.recovered,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
    finished_at: row.finishedAt === null ? undefined : toTimestamp(row.finishedAt),
  };
}
