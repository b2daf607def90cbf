/** The parts of the runner API that this runner reads (docs/runners.md). */
export type Directive = "continue" | "cancel" | "stop";

export interface ApiResponse {
  status: number;
  directive: Directive;
  retryAfterMs: number | undefined;
  body: unknown;
}

export interface Intervals {
  start_within_seconds: number;
  heartbeat_every_seconds: number;
  lease_seconds: number;
}

export interface Claim extends Intervals {
  attempt_id: string;
  lease_token: string;
  /** The response to the start has the deployment to execute. */
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

/** The server decides the final status, which may differ from the reported outcome. */
export interface CompletedAttempt {
  status: Outcome;
  failure_reason?: string;
}

export interface StackReport {
  seq: number;
  status: "in_progress" | Outcome;
  status_reason?: string;
}
