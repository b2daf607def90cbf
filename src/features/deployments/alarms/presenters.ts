import { toTimestamp } from "../../../lib/clock.ts";
import type { AlarmRow } from "./store.ts";

export function presentAlarm(row: AlarmRow) {
  return {
    stack_id: row.stackId,
    name: row.name,
    state: row.state,
    reason: row.reason ?? undefined,
    changed_at: toTimestamp(row.changedAt),
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
