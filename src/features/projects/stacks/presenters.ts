import { toTimestamp } from "../../../lib/clock.ts";
import { NO_OUTPUTS } from "./model.ts";
import type { StackRow } from "./store.ts";

export function presentStack(row: StackRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    environment_id: row.environmentId,
    component_id: row.componentId ?? undefined,
    name: row.name,
    position: row.position ?? undefined,
    ...(row.outputs !== NO_OUTPUTS && {
      outputs: JSON.parse(row.outputs) as Record<string, string>,
    }),
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
