import { toTimestamp } from "../../../lib/clock.ts";
import { LEASE_TTL_MS } from "../deployments/index.ts";
import type { AttemptRow, RunnerRow } from "./store.ts";

export function presentAttempt(row: AttemptRow) {
  const isOffered = row.state === "offered";
  return {
    id: row.id,
    deployment_id: row.deploymentId,
    environment_id: row.environmentId,
    state: row.state === "offered" ? ("offered" as const) : ("running" as const),
    token: presentToken(row),
    created_at: toTimestamp(row.createdAt),
    offered_until: isOffered ? toTimestamp(row.offeredUntil) : undefined,
    started_at: timestampOf(row.startedAt),
    // A start and a heartbeat extend the lease by the same time.
    last_heartbeat_at: timestampOf(row.leaseUntil && row.leaseUntil - LEASE_TTL_MS),
    run_until: timestampOf(row.runUntil),
  };
}

export function presentRunner(row: RunnerRow) {
  const [deploymentId, leaseUntil] = JSON.parse(row.attempt ?? "[]") as [string?, number?];
  return {
    id: row.id,
    name: row.name || undefined,
    version: row.version ?? undefined,
    token: presentToken(row),
    state: deploymentId ? ("busy" as const) : ("idle" as const),
    deployment_id: deploymentId,
    wanted_deployment_id: row.wantedId ?? undefined,
    created_at: toTimestamp(row.createdAt),
    last_seen_at: toTimestamp(Math.max(row.lastSeenAt, (leaseUntil ?? 0) - LEASE_TTL_MS)),
  };
}

function presentToken({ tokenId: id, tokenName: name }: Pick<RunnerRow, "tokenId" | "tokenName">) {
  return id !== null && name !== null ? { id, name } : undefined;
}

function timestampOf(time: number | null) {
  return time === null ? undefined : toTimestamp(time);
}
