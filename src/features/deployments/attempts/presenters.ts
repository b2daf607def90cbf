import { toTimestamp } from "../../../lib/clock.ts";
import { LEASE_TTL_MS } from "../deployments/index.ts";
import type { AttemptRow } from "./store.ts";

export function presentAttempt(row: AttemptRow) {
  const { tokenId, tokenName: name } = row;
  const isOffered = row.state === "offered";
  return {
    id: row.id,
    deployment_id: row.deploymentId,
    environment_id: row.environmentId,
    state: row.state === "offered" ? ("offered" as const) : ("running" as const),
    token: tokenId !== null && name !== null ? { id: tokenId, name } : undefined,
    created_at: toTimestamp(row.createdAt),
    offered_until: isOffered ? toTimestamp(row.offeredUntil) : undefined,
    started_at: timestampOf(row.startedAt),
    // A start and a heartbeat extend the lease by the same time.
    last_heartbeat_at: timestampOf(row.leaseUntil && row.leaseUntil - LEASE_TTL_MS),
    run_until: timestampOf(row.runUntil),
  };
}

function timestampOf(time: number | null) {
  return time === null ? undefined : toTimestamp(time);
}
