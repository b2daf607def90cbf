import {
  type DeploymentStatus,
  hasEnded,
  type LogDeclaration,
  type StackStatus,
} from "../deployments/index.ts";
import type { LogStatus } from "./model.ts";

/** What the readers of a log are told of its deployment. */
export interface Run {
  status: DeploymentStatus;
  stacks: readonly { id: string; status: StackStatus }[];
  hasStarted: boolean;
  /** Whether the log still has to be notified of the end of the attempt. */
  isLogPending: boolean;
}

export interface EndedAttempt {
  attemptId: string;
  endedAt: number;
  /** Null: the runner has declared nothing, or did not complete the attempt. */
  declaration: LogDeclaration | null;
}

/** @param log What the log itself says; undefined if it has nothing. */
export function logStatusOf(run: Run, log: { isSealed: boolean } | undefined): LogStatus {
  if (log) return log.isSealed ? "sealed" : "open";
  if (!hasEnded(run.status)) return run.hasStarted ? "open" : "pending";
  // The log is about to be notified of the end.
  return run.isLogPending ? "open" : "none";
}
