/** The parts of the runner API that this runner reads (docs/write-a-runner.md). */
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
  log_every_seconds: number;
  /** Of one request. */
  log_chunk_bytes: number;
  /** That the server keeps. */
  log_bytes: number;
}

export interface Claim extends Intervals {
  attempt_id: string;
  lease_token: string;
  /** The response to the start has the deployment to execute. */
  deployment: { id: string };
}

export interface StartedAttempt extends Intervals {
  input: AttemptInput;
}

/** The parts that this runner reads. */
export interface Source {
  git?: GitSource;
  registry?: { image?: string };
}

export interface GitSource {
  provider?: string;
  owner?: string;
  repo?: string;
  /** Only with the provider `git`. */
  url?: string;
  ref?: string;
  commit?: { sha?: string };
}

export interface NamedResource {
  id: string;
  name: string;
}

export type Outputs = Record<string, string>;

export interface InputStack extends NamedResource {
  component?: NamedResource;
  /** Of its last success. */
  outputs: Outputs;
}

/** What is deployed, and where. */
export interface AttemptInput {
  deployment: {
    id: string;
    patch: unknown[];
    source?: Source;
    trigger: string;
    /** Absent: an older server. */
    continue_on_failure?: boolean;
  };
  project: NamedResource;
  environment: NamedResource;
  /** In the order of the deployment. */
  stacks: InputStack[];
  /** Others, which these need. Absent: none. */
  needed_stacks?: InputStack[];
  /** As this deployment makes it. */
  configuration: unknown;
  /** Absent: the project is not connected. */
  connection?: unknown;
}

export interface DeliveredVariable {
  name: string;
  value: string;
  storage_method: string;
  /** Absent: the variable belongs to the environment itself. */
  component_id?: string;
}

export interface DeliveredVariables {
  variables: DeliveredVariable[];
  stacks: { stack_id: string; component_id?: string }[];
}

export type Outcome = "succeeded" | "failed" | "canceled";

export interface Completion {
  outcome: Outcome;
  failure_reason?: string;
  message?: string;
  log?: LogDeclaration;
}

/** The whole output of an attempt, masked. */
export interface LogDeclaration {
  /** In bytes. */
  size: number;
  /** In hexadecimal, in lower case. */
  sha256: string;
}

/** The server decides the final status, which may differ from the reported outcome. */
export interface CompletedAttempt {
  status: Outcome;
  failure_reason?: string;
}

export interface StackReport {
  seq: number;
  status: "in_progress" | "skipped" | Outcome;
  status_reason?: string;
  /** All of the stack. */
  resources?: ReportedResource[];
  /** Instead: those that have changed. */
  changed_resources?: ReportedResource[];
  /** All so far. */
  outputs?: Output[];
}

export interface ReportedResource {
  template_id: string;
  physical_id: string;
  resource_type: string;
  status: string;
  status_reason?: string;
  timestamp?: string;
}

export interface Output {
  name: string;
  value: string;
}
