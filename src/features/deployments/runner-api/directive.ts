import type { AttemptState, DeploymentStatus } from "../deployments/index.ts";

export const DIRECTIVES = ["continue", "cancel", "stop"] as const;
export type Directive = (typeof DIRECTIVES)[number];

/** The header of every reply to a runner. */
export const DIRECTIVE_HEADER = "deployment-desired";

export interface Lease {
  state: AttemptState;
  offeredUntil: number;
  leaseUntil: number | null;
  lostAt: number | null;
  runUntil: number | null;
  deploymentStatus: DeploymentStatus;
}

/** Compares the times too, because `expire` may not have ended the attempt yet. */
export function isLeaseValid({ state, offeredUntil, lostAt }: Lease, now: number): boolean {
  if (state === "offered") return now < offeredUntil;
  return state === "running" && now < (lostAt ?? 0);
}

/** A run past its time is told to cancel, even before `expire` changes its deployment. */
export function directiveFor(lease: Lease, now: number): Directive {
  if (!isLeaseValid(lease, now)) return "stop";
  const isCanceling = lease.deploymentStatus === "canceling" || isTimedOut(lease, now);
  return isCanceling ? "cancel" : "continue";
}

function isTimedOut({ state, runUntil }: Lease, now: number): boolean {
  return state === "running" && runUntil !== null && runUntil <= now;
}
