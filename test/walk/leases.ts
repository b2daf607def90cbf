import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Reply } from "./fixture.ts";

/** A runner may send each request within this time after its last start or heartbeat. */
export const LOST_AFTER_MS = 360_000;
export const VARIABLES_WITHIN_MS = 60_000;

/** The state of an attempt in the database before a request about it. */
export interface Lease {
  state: "offered" | "running" | "ended";
  deploymentStatus: string;
  failureReason: string | null;
  /** Whether the runner holds the attempt now. */
  isLive: boolean;
  /** Whether the runner may read the variables. */
  isFresh: boolean;
  directive: "continue" | "cancel" | "stop";
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

/**
 * Once a runner has started the attempt, its last accepted start or heartbeat decides whether its
 * lease is valid, whatever the database has.
 */
export async function readLease(attemptId: string, now: number, aliveAt?: number): Promise<Lease> {
  const row = await env.DB.prepare(
    `select a.*, d.status, d.failure_reason from attempts as a
      join deployments as d on d.id = a.deployment_id where a.id = ?`,
  )
    .bind(attemptId)
    .first<Row>();
  if (!row) throw new Error(`No attempt ${attemptId}`);
  const lostAt = aliveAt === undefined ? Number(row.lost_at) : aliveAt + LOST_AFTER_MS;
  const staleAt = aliveAt === undefined ? Number(row.lease_until) : aliveAt + VARIABLES_WITHIN_MS;
  const isRunning = row.state === "running" && now < lostAt;
  const isLive = isRunning || (row.state === "offered" && now < row.offered_until);
  const isOver = row.status === "canceling" || (isRunning && Number(row.run_until) <= now);
  return {
    state: row.state,
    deploymentStatus: row.status,
    failureReason: row.failure_reason,
    isLive,
    isFresh: isRunning && now < staleAt,
    directive: isOver ? "cancel" : "continue",
  };
}

/** Finds attempts that ended without a completion or a deadline, although their runner was alive. */
export function selectEndedAlive(
  attempts: readonly { id: string; aliveAt: number }[],
): D1PreparedStatement {
  return env.DB.prepare(
    `select a.id from json_each(?1) as known
      join attempts as a on a.id = known.value ->> 'id'
      join deployments as d on d.id = a.deployment_id
      where a.state = 'ended' and a.completion is null
        and a.ended_at < (known.value ->> 'aliveAt') + ${LOST_AFTER_MS}
        and not (d.cancel_deadline is not null and d.cancel_deadline <= a.ended_at)`,
  ).bind(JSON.stringify(attempts));
}

/** Of these attempts, those that their runners hold now. */
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

/** Whether the stack was already finished before this report. */
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

/** Whether the stack has had no report with this number or a later one. */
export async function isNewer(attemptId: string, stackId: string, seq: number) {
  const row = await env.DB.prepare(
    `select 1 from deployment_stacks where stack_id = ?2 and seq < ?3
      and deployment_id = (select deployment_id from attempts where id = ?1)`,
  )
    .bind(attemptId, stackId, seq)
    .first();
  return row !== null;
}

/** The runner of a live attempt gets 200 and the current directive. */
export function expectAccepted(lease: Lease, { status, directive }: Reply, then?: "stop"): void {
  if (!lease.isLive || lease.state !== "running") return;
  expect(status, "a live runner is rejected").toBe(200);
  expect(directive, "a live runner gets another directive").toBe(then ?? lease.directive);
}

/** A live offer can be started, unless its patch conflicts. */
export async function expectStarted(lease: Lease, attemptId: string, reply: Reply, now: number) {
  expectAccepted(lease, reply);
  if (!lease.isLive || lease.state !== "offered" || reply.status === 200) return;
  expect(reply.body?.cause?.reason, "the start of a live offer is rejected").toBe("patch_conflict");
  expect(reply.directive).toBe("stop");
  const { deploymentStatus, failureReason } = await readLease(attemptId, now);
  expect(
    [deploymentStatus, failureReason],
    "a patch conflict does not fail the deployment",
  ).toEqual(["failed", "patch_conflict"]);
}
