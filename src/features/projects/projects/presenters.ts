import { toTimestamp } from "../../../lib/clock.ts";
import type { ProjectRow } from "./store.ts";

export function presentProject(row: ProjectRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    name: row.name,
    description: row.description ?? undefined,
    icon: row.icon ?? undefined,
    repo_id: row.repoId ?? undefined,
    default_environment_id: row.defaultEnvironmentId,
    connection_status: row.connectionStatus,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
