/** What the runner reads of the answers of the runner plane (see docs/runners.md). */
export interface Intervals {
  start_within_seconds: number;
  heartbeat_every_seconds: number;
  lease_seconds: number;
}

export interface Claim extends Intervals {
  attempt_id: string;
  lease_token: string;
  /** As it is offered. What to execute is in the reply to the start. */
  deployment: { id: string };
}

export interface StartedAttempt extends Intervals {
  deployment: Deployment;
}

export interface Deployment {
  id: string;
  stack_ids: string[];
  data: { patch: unknown[]; source?: unknown };
}

export interface DeliveredVariables {
  variables: { name: string; value: string }[];
}

export type Outcome = "succeeded" | "failed" | "canceled";

export interface Completion {
  outcome: Outcome;
  failure_reason?: string;
  message?: string;
}

/** How the deployment has ended, which the server decides. */
export interface CompletedAttempt {
  status: Outcome;
  failure_reason?: string;
}

export interface StackReport {
  seq: number;
  status: "in_progress" | Outcome;
  status_reason?: string;
}
