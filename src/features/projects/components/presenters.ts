import { toTimestamp } from "../../../lib/clock.ts";
import type { ComponentRow } from "./store.ts";

export function presentComponent(row: ComponentRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    environment_id: row.environmentId,
    name: row.name,
    kind: row.kind,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
