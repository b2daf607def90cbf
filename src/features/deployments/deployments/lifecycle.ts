import { LIMITS } from "../../../lib/limits.ts";

export const DEPLOYMENT_STATUSES = [
  "queued",
  "in_progress",
  "canceling",
  "succeeded",
  "failed",
  "canceled",
  "superseded",
] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

export const STACK_STATUSES = [
  "pending",
  "in_progress",
  "succeeded",
  "failed",
  "canceled",
  "skipped",
] as const;
export type StackStatus = (typeof STACK_STATUSES)[number];

export const REPORTED_STATUSES = [
  "in_progress",
  "succeeded",
  "failed",
  "canceled",
  "skipped",
] as const satisfies readonly StackStatus[];
export type ReportedStatus = (typeof REPORTED_STATUSES)[number];

export const QUEUES = ["supersede", "fifo"] as const;
export type Queue = (typeof QUEUES)[number];

/** The triggers that runners know: to them, a rollback is a redeployment. */
export const START_TRIGGERS = ["api", "redeployment", "promotion"] as const;

export const CREATOR_TYPES = ["person", "service_account", "ci"] as const;
export type CreatorType = (typeof CREATOR_TYPES)[number];

export const OUTCOMES = ["succeeded", "failed", "canceled"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const ATTEMPT_STATES = ["offered", "running", "ended"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** The runner completes or releases an attempt; otherwise its start is refused, or it lapses, is lost or is revoked. */
export const ATTEMPT_OUTCOMES = [
  ...OUTCOMES,
  "released",
  "refused",
  "lapsed",
  "lost",
  "revoked",
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/**
 * Why a deployment failed or was canceled, as the service says it. A runner may give any other reason: ours gives `executor_missing`,
 * `input_not_written`, `lease_expired`, `patch_not_written`, `server_outdated`, `settings_refused`, `source_refused`,
 * `stack_failed` and `variable_refused`.
 */
export const DEPLOYMENT_FAILURES = {
  approvalExpired: "approval_expired",
  rejected: "rejected",
  patchConflict: "patch_conflict",
  neverStarted: "never_started",
  runTimeout: "run_timeout",
  runnerLost: "runner_lost",
  stackFailed: "stack_failed",
  stacksUnfinished: "stacks_unfinished",
} as const;

/** An offer that is not started within this time lapses, and the deployment is queued again. */
export const OFFER_TTL_MS = 60_000;
export const MAXIMUM_LAPSED_OFFERS = LIMITS.lapsedOffers.value;
/** Each leaves an attempt, so that a repeated claim gets it. */
export const MAXIMUM_RELEASED_OFFERS = LIMITS.releasedOffers.value;
export const HEARTBEAT_INTERVAL_MS = 15_000;
/** How often a runner sends what its command has printed. */
export const LOG_INTERVAL_MS = 1_000;
/** Without a heartbeat for this time, an attempt is stale. It may still resume. */
export const LEASE_TTL_MS = 60_000;
/** Without a heartbeat for this time, an attempt is lost. It cannot resume. */
export const LOST_AFTER_MS = 360_000;
/** A deployment that is canceling for this time ends without its runner. */
export const CANCEL_TIMEOUT_MS = 120_000;

/** Guards in the SQL of `code` decide whether it happens. */
export interface Transition<State extends string> {
  /** Empty if the transition creates the resource. */
  from: readonly State[];
  to: readonly State[];
  /** `system`: another transition in the same batch causes this one. */
  by: "person" | "runner" | "time" | "system";
  /** The request or the condition, for the table in docs/state-machine.md: undefined in the Worker. */
  when: string;
  /** A file in `transitions/`, and its function. */
  code: `${string}.${string}`;
}

const CANCEL = "Cancel the deployment, or disconnect its project";

const DEPLOYMENT_TRANSITIONS = [
  {
    from: [],
    to: ["queued"],
    by: "person",
    when: "Create, redeploy or promote, in a connected project",
    code: "create.insertDeployment",
  },
  {
    from: ["queued"],
    to: ["superseded"],
    by: "person",
    when: "Create a newer deployment with the queue `supersede`",
    code: "create.supersedeOlder",
  },
  {
    from: ["queued"],
    to: ["in_progress"],
    by: "runner",
    when: `Start within ${OFFER_TTL_MS / 1_000} s, based on the current version of the configuration`,
    code: "start.startDeployment",
  },
  {
    from: ["queued"],
    to: ["superseded"],
    by: "runner",
    when: "Start a newer deployment",
    code: "start.startDeployment",
  },
  {
    from: ["queued"],
    to: ["failed"],
    by: "runner",
    when: "Start, but the patch does not apply to the current configuration: `patch_conflict`",
    code: "start.failPatch",
  },
  {
    from: ["queued"],
    to: ["failed"],
    by: "time",
    when: "The fifth offer lapses: `never_started`",
    code: "expire.expire",
  },
  {
    from: ["queued"],
    to: ["failed"],
    by: "runner",
    when: `Release the ${MAXIMUM_RELEASED_OFFERS}th offer: \`never_started\``,
    code: "claim.releaseOffer",
  },
  {
    from: ["queued"],
    to: ["canceled"],
    by: "person",
    when: CANCEL,
    code: "cancel.cancelDeployments",
  },
  {
    from: ["queued"],
    to: ["canceled"],
    by: "person",
    when: "Reject the deployment: `rejected`",
    code: "rules.rejectDeployment",
  },
  {
    from: ["queued"],
    to: ["canceled"],
    by: "time",
    when: "`expires_after_seconds` of a rule have passed without its approvals: `approval_expired`",
    code: "rules.expireApprovals",
  },
  {
    from: ["in_progress"],
    to: ["canceling"],
    by: "person",
    when: CANCEL,
    code: "cancel.cancelDeployments",
  },
  {
    from: ["in_progress"],
    to: ["canceling"],
    by: "time",
    when: "`max_run_seconds` of the pool have passed since the start: `run_timeout`",
    code: "expire.expire",
  },
  {
    from: ["in_progress"],
    to: ["succeeded", "failed", "canceled"],
    by: "runner",
    when:
      "Complete. `failed` if a stack has failed, if the outcome is `succeeded` and a stack is " +
      "neither `succeeded` nor `skipped`, or after `max_run_seconds`",
    code: "complete.completeDeployment",
  },
  {
    from: ["canceling"],
    to: ["canceled", "failed"],
    by: "runner",
    when: "Complete with any outcome. `failed` after a run timeout",
    code: "complete.completeDeployment",
  },
  {
    from: ["canceling"],
    to: ["canceled", "failed"],
    by: "time",
    when: `${CANCEL_TIMEOUT_MS / 1_000} s have passed, or the runner is lost. \`failed\` after a run timeout`,
    code: "expire.expire",
  },
  {
    from: ["in_progress"],
    to: ["failed"],
    by: "time",
    when: `No heartbeat for ${LOST_AFTER_MS / 1_000} s: \`runner_lost\``,
    code: "expire.expire",
  },
] as const satisfies readonly Transition<DeploymentStatus>[];

const ATTEMPT_TRANSITIONS = [
  {
    from: [],
    to: ["offered"],
    by: "runner",
    when: "Claim the oldest deployment of an environment in which none is offered or running",
    code: "claim.insertAttempt",
  },
  {
    from: ["offered"],
    to: ["running"],
    by: "runner",
    when: "Start the deployment",
    code: "start.startDeployment",
  },
  {
    from: ["offered"],
    to: ["ended"],
    by: "runner",
    when: "Start, but a rule of the environment is not met. The deployment stays `queued`",
    code: "rules.refuseStart",
  },
  {
    from: ["offered"],
    to: ["ended"],
    by: "runner",
    when: "Release the offer. The deployment stays `queued`",
    code: "claim.releaseOffer",
  },
  {
    from: ["offered"],
    to: ["ended"],
    by: "time",
    when: `${OFFER_TTL_MS / 1_000} s have passed: the offer lapses. The deployment stays \`queued\``,
    code: "expire.expire",
  },
  {
    from: ["running"],
    to: ["ended"],
    by: "runner",
    when: "Complete",
    code: "complete.completeDeployment",
  },
  {
    from: ["offered", "running"],
    to: ["ended"],
    by: "system",
    when: "The deployment has ended",
    code: "finalize.finalize",
  },
] as const satisfies readonly Transition<AttemptState>[];

const STACK_TRANSITIONS = [
  {
    from: [],
    to: ["pending"],
    by: "person",
    when: "Create, redeploy or promote",
    code: "create.insertStacks",
  },
  {
    from: ["pending"],
    to: ["in_progress", "succeeded", "failed", "canceled", "skipped"],
    by: "runner",
    when: "Report",
    code: "report.applyReport",
  },
  {
    from: ["in_progress"],
    to: ["succeeded", "failed", "canceled", "skipped"],
    by: "runner",
    when: "Report",
    code: "report.applyReport",
  },
  {
    from: ["pending"],
    to: ["canceled", "skipped"],
    by: "system",
    when: "The deployment has ended: `canceled` with it, otherwise `skipped`",
    code: "finalize.finalize",
  },
  {
    from: ["in_progress"],
    to: ["canceled", "failed"],
    by: "system",
    when: "The deployment has ended: `canceled` with it, otherwise `failed`",
    code: "finalize.finalize",
  },
] as const satisfies readonly Transition<StackStatus>[];

export const TRANSITIONS = {
  deployment: DEPLOYMENT_TRANSITIONS,
  attempt: ATTEMPT_TRANSITIONS,
  stack: STACK_TRANSITIONS,
} as const;

/** The states that some transition leaves, or only those of `code`. All other states are final. */
export function statesBefore<State extends string, Code extends string>(
  transitions: readonly { from: readonly State[]; code: Code }[],
  code?: Code,
): readonly State[] {
  const chosen = transitions.filter((each) => code === undefined || each.code === code);
  return [...new Set(chosen.flatMap(({ from }) => from))];
}

export function hasEnded(status: DeploymentStatus): boolean {
  const active: readonly DeploymentStatus[] = statesBefore(TRANSITIONS.deployment);
  return !active.includes(status);
}
