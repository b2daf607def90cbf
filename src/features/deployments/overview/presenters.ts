import { toTimestamp } from "../../../lib/clock.ts";
import type { DeploymentSummaryRow, EnvironmentOverviewRow } from "./store.ts";

export function presentEnvironmentOverview(row: EnvironmentOverviewRow) {
  return {
    id: row.id,
    name: row.name,
    active_deployment: presentSummary(row.active),
    last_deployment: presentSummary(row.last),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentSummary(json: string | null) {
  if (json === null) return undefined;
  const row = JSON.parse(json) as DeploymentSummaryRow;
  return {
    id: row.id,
    status: row.status,
    source: row.source === null ? undefined : (JSON.parse(row.source) as object),
    created_at: toTimestamp(row.createdAt),
    started_at: row.startedAt === null ? undefined : toTimestamp(row.startedAt),
    finished_at: row.finishedAt === null ? undefined : toTimestamp(row.finishedAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}
