import type { AttemptState, DeploymentStatus } from "../deployments/index.ts";

/** What a runner is to do, as every answer of its plane says. */
export const DESIRES = ["continue", "cancel", "stop"] as const;
export type Desire = (typeof DESIRES)[number];

/** An attempt, as far as it decides what its runner may do. */
export interface Hold {
  state: AttemptState;
  offeredUntil: number;
  leaseUntil: number | null;
  lostAt: number | null;
  deploymentStatus: DeploymentStatus;
}

/** Whether the attempt is still its runner's, at this moment and whatever a sweep has done. */
export function isHeld({ state, offeredUntil, lostAt }: Hold, now: number): boolean {
  if (state === "offered") return now < offeredUntil;
  return state === "running" && now < (lostAt ?? 0);
}

/** Without a hold on it, a runner is to stop touching the infrastructure. */
export function desiredOf(hold: Hold, now: number): Desire {
  if (!isHeld(hold, now)) return "stop";
  return hold.deploymentStatus === "canceling" ? "cancel" : "continue";
}
