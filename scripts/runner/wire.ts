/** What the runner reads of the answers of the runner plane (see docs/runners.md). */
export interface Intervals {
  start_within_seconds: number;
  heartbeat_every_seconds: number;
  lease_seconds: number;
}

export interface Claim extends Intervals {
  attempt_id: string;
  lease_token: string;
  deployment: {
    id: string;
    stack_ids: string[];
    data: { source?: unknown };
  };
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

export interface StackReport {
  seq: number;
  status: "in_progress" | Outcome;
  status_reason?: string;
}
