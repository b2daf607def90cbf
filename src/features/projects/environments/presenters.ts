import { toTimestamp } from "../../../lib/clock.ts";
import type { Configuration } from "./model.ts";
import type { EnvironmentRow } from "./store.ts";

export function presentEnvironment(row: EnvironmentRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    name: row.name,
    position: row.position ?? undefined,
    url_stack_id: row.urlStackId ?? undefined,
    configuration: JSON.parse(row.configuration) as Configuration,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
