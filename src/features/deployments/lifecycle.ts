import { LIMITS } from "../../lib/limits.ts";

/** Which states there are, and how long each may last. What may follow what, the statements say. */
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

/** What a runner may report of a stack. `pending` is what it was before. */
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

/** How a runner says that it is done. */
export const OUTCOMES = ["succeeded", "failed", "canceled"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const ATTEMPT_STATES = ["offered", "running", "ended"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** How an attempt ended: by its runner's word, or without it. */
export const ATTEMPT_OUTCOMES = [...OUTCOMES, "released", "lapsed", "lost", "revoked"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Why a deployment failed, where no runner has said so. */
export const FAILURES = {
  /** Its patch does not apply to the environment's configuration as it is at the start. */
  patchConflict: "patch_conflict",
  /** No runner has started it in `MAXIMUM_LAPSED_OFFERS` offers. */
  neverStarted: "never_started",
  /** It has run for longer than its pool allows. */
  runTimeout: "run_timeout",
  runnerLost: "runner_lost",
  stackFailed: "stack_failed",
  stacksUnfinished: "stacks_unfinished",
} as const;

/** An offer that is not started lapses, and the deployment is queued again. */
export const OFFER_MS = 60_000;
export const MAXIMUM_LAPSED_OFFERS = LIMITS.lapsedOffers.value;
export const HEARTBEAT_MS = 15_000;
/** Without a heartbeat for so long, the attempt is stale; it may resume. */
export const LEASE_MS = 60_000;
/** Stale for so long, it is lost for good. */
export const STALE_MS = 300_000;
/** A runner has so long to cancel before the deployment is canceled without it. */
export const CANCEL_MS = 120_000;
