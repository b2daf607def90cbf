import { toTimestamp } from "../../../lib/clock.ts";
import type { ResourceRow } from "./store.ts";

export function presentResource(row: ResourceRow) {
  return {
    id: row.id,
    stack_id: row.stackId,
    environment_id: row.environmentId,
    template_id: row.templateId,
    physical_id: row.physicalId,
    resource_type: row.resourceType,
    status: row.status,
    status_reason: row.statusReason ?? undefined,
    timestamp: toTimestamp(row.timestamp),
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
