import { toTimestamp } from "../../../lib/clock.ts";
import type { StackRow } from "./store.ts";

export function presentStack(row: StackRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    environment_id: row.environmentId,
    component_id: row.componentId ?? undefined,
    name: row.name,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
