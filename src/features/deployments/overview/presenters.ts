import { toTimestamp } from "../../../lib/clock.ts";
import { HELD_FOR_EVENT, MEETS_RULES } from "../conditions/index.ts";
import { presentOrigin, secondsBetween } from "../deployments/index.ts";
import type {
  DeploymentSummaryRow,
  QueuedDeployment,
  RaisedAlarm,
  RecentDeployment,
} from "./environment-state.ts";
import type { EnvironmentOverviewRow } from "./store.ts";

export function presentEnvironmentOverview(row: EnvironmentOverviewRow) {
  return {
    id: row.id,
    name: row.name,
    position: row.position ?? undefined,
    active_deployment: presentSummary(row.active),
    last_deployment: presentSummary(row.last),
    current_deployment: presentSummary(row.current),
    url: row.url ?? undefined,
    health: row.health ?? undefined,
    alarms: (JSON.parse(row.alarms) as RaisedAlarm[]).map(presentAlarm),
    queue: (JSON.parse(row.queue) as QueuedDeployment[]).map(presentQueued),
    recent_deployments: (JSON.parse(row.recent) as RecentDeployment[]).map(presentRecent),
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
    ...presentOrigin(row),
  };
}

function presentAlarm({ stackId, stackName, name, reason, changedAt }: RaisedAlarm) {
  return {
    stack_id: stackId,
    stack_name: stackName,
    name,
    reason: reason ?? undefined,
    changed_at: toTimestamp(changedAt),
  };
}

function presentQueued({ id, createdAt, awaitsApproval, heldUntil }: QueuedDeployment) {
  return {
    id,
    created_at: toTimestamp(createdAt),
    awaits_approval: awaitsApproval === 1,
    opens_at: isTime(heldUntil) ? toTimestamp(heldUntil) : undefined,
  };
}

function isTime(heldUntil: number | null): heldUntil is number {
  return heldUntil !== null && heldUntil > MEETS_RULES && heldUntil !== HELD_FOR_EVENT;
}

function presentRecent({ id, status, createdAt, startedAt, finishedAt }: RecentDeployment) {
  return {
    id,
    status,
    created_at: toTimestamp(createdAt),
    run_seconds: startedAt === null ? undefined : secondsBetween(startedAt, finishedAt),
  };
}
