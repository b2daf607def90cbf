import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Answer } from "./walk.ts";

/** What the database says of an attempt before a call about it. */
export interface Lease {
  state: "offered" | "running" | "ended";
  deploymentStatus: string;
  failureReason: string | null;
  /** Whether the attempt is its runner's, at this moment. */
  isLive: boolean;
  /** Whether the runner may read the variables. */
  isFresh: boolean;
  desired: "continue" | "cancel" | "stop";
}

interface Row {
  id: string;
  state: Lease["state"];
  offered_until: number;
  lease_until: number | null;
  lost_at: number | null;
  run_until: number | null;
  status: string;
  failure_reason: string | null;
}

export async function readLease(attemptId: string, now: number): Promise<Lease> {
  const row = await env.DB.prepare(
    `select a.*, d.status, d.failure_reason from attempts as a
      join deployments as d on d.id = a.deployment_id where a.id = ?`,
  )
    .bind(attemptId)
    .first<Row>();
  if (!row) throw new Error(`No attempt ${attemptId}`);
  const isRunning = row.state === "running" && now < Number(row.lost_at);
  const isLive = isRunning || (row.state === "offered" && now < row.offered_until);
  const isOver = row.status === "canceling" || (isRunning && Number(row.run_until) <= now);
  return {
    state: row.state,
    deploymentStatus: row.status,
    failureReason: row.failure_reason,
    isLive,
    isFresh: isRunning && now < Number(row.lease_until),
    desired: isOver ? "cancel" : "continue",
  };
}

/** Of these attempts, those that are their runner's at this moment. */
export async function listLive(attemptIds: readonly string[], now: number): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select id from attempts where id in (select value from json_each(?1))
      and ((state = 'offered' and offered_until > ?2) or (state = 'running' and lost_at > ?2))
      order by id`,
  )
    .bind(JSON.stringify(attemptIds), now)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Whether a report of a stack comes after its end. */
export async function isAfterEnd(attemptId: string, stackId: string, seq: number) {
  const row = await env.DB.prepare(
    `select 1 from deployment_stacks where stack_id = ?2 and seq < ?3
      and status not in ('pending', 'in_progress')
      and deployment_id = (select deployment_id from attempts where id = ?1)`,
  )
    .bind(attemptId, stackId, seq)
    .first();
  return row !== null;
}

/** Who holds a started attempt is heard, and told what its deployment is to do. */
export function expectHeard(lease: Lease, { status, desired }: Answer, then?: "stop"): void {
  if (!lease.isLive || lease.state !== "running") return;
  expect(status, "a live runner is refused").toBe(200);
  expect(desired, "a live runner is told something else").toBe(then ?? lease.desired);
}

/** An offer is started in time, unless its deployment has failed for its patch. */
export async function expectStarted(lease: Lease, attemptId: string, answer: Answer, now: number) {
  expectHeard(lease, answer);
  if (!lease.isLive || lease.state !== "offered" || answer.status === 200) return;
  expect(answer.body?.cause?.reason, "the start of a live offer is refused").toBe("patch_conflict");
  expect(answer.desired).toBe("stop");
  const { deploymentStatus, failureReason } = await readLease(attemptId, now);
  expect([deploymentStatus, failureReason], "a conflict that fails nothing").toEqual([
    "failed",
    "patch_conflict",
  ]);
}
