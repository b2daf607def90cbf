import type { AttemptState, DeploymentStatus } from "../deployments/index.ts";

/** What a runner is to do, as every answer of its plane says. */
export const DIRECTIVES = ["continue", "cancel", "stop"] as const;
export type Directive = (typeof DIRECTIVES)[number];

/** An attempt, as far as it decides what its runner may do. */
export interface Hold {
  state: AttemptState;
  offeredUntil: number;
  leaseUntil: number | null;
  lostAt: number | null;
  runUntil: number | null;
  deploymentStatus: DeploymentStatus;
}

/** Whether the attempt is still its runner's, at this moment and whatever a sweep has done. */
export function isLeaseHeld({ state, offeredUntil, lostAt }: Hold, now: number): boolean {
  if (state === "offered") return now < offeredUntil;
  return state === "running" && now < (lostAt ?? 0);
}

/**
 * Without a hold on it, a runner is to stop touching the infrastructure. Past the time of its pool it
 * is to cancel, before a sweep says so in the deployment as after.
 */
export function directiveFor(hold: Hold, now: number): Directive {
  if (!isLeaseHeld(hold, now)) return "stop";
  const isCanceling = hold.deploymentStatus === "canceling" || isTimedOut(hold, now);
  return isCanceling ? "cancel" : "continue";
}

/** Whether a run has taken longer than its pool allows. */
export function isTimedOut({ state, runUntil }: Hold, now: number): boolean {
  return state === "running" && runUntil !== null && runUntil <= now;
}
