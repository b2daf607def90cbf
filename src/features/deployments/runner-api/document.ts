import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { ApiError, Conflict } from "../../../lib/errors.ts";
import { durationOf } from "../../../lib/quantities.ts";
import {
  MAXIMUM_LAPSED_OFFERS,
  MAXIMUM_RELEASED_OFFERS,
  OFFER_TTL_MS,
} from "../deployments/index.ts";
import {
  CONFIGURATION_CHANGING,
  DeploymentEnded,
  LEASE_STALE,
  LeaseLost,
  mustComplete,
  NOT_STARTED,
  OTHER_OUTCOME,
  STACK_ENDED,
} from "./errors.ts";
import {
  Claim,
  ClaimList,
  CompletedAttempt,
  DeliveredVariables,
  Progress,
  ReportedProgress,
  StartedAttempt,
} from "./responses.ts";

const LOST = "If the attempt is no longer yours, the reply is a `conflict`: stop.";

const operations = {
  claimDeployment: {
    tags: ["Runners"],
    summary: "Claim a deployment",
    description:
      "Offers the oldest deployment that may start in an environment of your pool. " +
      "The same `request_id` returns the same attempt. With a `deployment_id`, a CI job gets the outcome " +
      "of its own deployment, not of another's.",
    notFound: ["deployment"],
    errors: {
      deployment_ended: new DeploymentEnded("superseded"),
    },
    responses: {
      200: jsonReply(Claim(), "An attempt."),
      204: { description: "No deployment to execute; see Retry-After." },
    },
  },
  listAttempts: {
    tags: ["Runners"],
    summary: "List your live attempts",
    description:
      "Returns the attempts that were claimed with this token and have not ended, for a runner that " +
      "lost its state. Each is as its claim returned it.",
    responses: { 200: jsonReply(ClaimList(), "A page of attempts.") },
  },
  startAttempt: {
    tags: ["Runners"],
    summary: "Start an attempt",
    description:
      `Start it within ${durationOf(OFFER_TTL_MS)}; otherwise the offer expires and the deployment is queued again, ` +
      `at most ${MAXIMUM_LAPSED_OFFERS} times. If the environment's configuration has changed since the deployment was created, the ` +
      "patch is applied to the current one: execute the patch of this reply. If it does not apply, " +
      `the deployment fails: a \`conflict\` with the reason \`patch_conflict\` in \`cause\`. ${LOST}`,
    notFound: ["attempt"],
    errors: {
      lease_lost: new LeaseLost(),
      patch_conflict: new ApiError(
        "conflict",
        'The deployment has failed. patch_conflict: operation 0: "/replicas" does not have the value of the test.',
        {
          cause: { reason: "patch_conflict" },
        },
      ),
      configuration_changing: new Conflict(CONFIGURATION_CHANGING),
    },
    responses: { 200: jsonReply(StartedAttempt(), "The deployment to execute.") },
  },
  sendHeartbeat: {
    tags: ["Runners"],
    summary: "Renew the lease of an attempt",
    description: LOST,
    notFound: ["attempt"],
    errors: {
      lease_lost: new LeaseLost(),
      attempt_not_started: new Conflict(NOT_STARTED),
    },
    responses: { 200: jsonReply(Progress(), "The directive.") },
  },
  deliverVariables: {
    tags: ["Runners"],
    summary: "Read the values of the variables",
    description:
      "Only while the lease is valid. Give a stack the variables of the environment and, over them, " +
      "those of its own component, never another's. The audit log records every read.",
    notFound: ["attempt"],
    errors: {
      lease_lost: new LeaseLost(),
      attempt_not_started: new Conflict(NOT_STARTED),
      lease_stale: new Conflict(LEASE_STALE),
    },
    responses: { 200: jsonReply(DeliveredVariables(), "The values.") },
  },
  reportStack: {
    tags: ["Runners"],
    summary: "Report a stack",
    description: `Ignores older reports, and reports of a stack that has ended. ${LOST}`,
    notFound: ["attempt", "stack in the deployment"],
    errors: {
      lease_lost: new LeaseLost(),
      attempt_not_started: new Conflict(NOT_STARTED),
      stack_ended: new Conflict(STACK_ENDED),
    },
    responses: { 200: jsonReply(ReportedProgress(), "The directive.") },
  },
  completeAttempt: {
    tags: ["Runners"],
    summary: "Complete an attempt",
    description: `Repeating it with the same body changes nothing. ${LOST}`,
    notFound: ["attempt"],
    errors: {
      lease_lost: new LeaseLost(),
      attempt_not_started: new Conflict(NOT_STARTED),
      other_outcome: new Conflict(OTHER_OUTCOME),
    },
    responses: { 200: jsonReply(CompletedAttempt(), "The outcome.") },
  },
  releaseAttempt: {
    tags: ["Runners"],
    summary: "Give an offer back",
    description: `Only before it is started. The deployment is queued again; at its ${MAXIMUM_RELEASED_OFFERS}th release, it is failed with never_started. ${LOST}`,
    notFound: ["attempt"],
    errors: {
      lease_lost: new LeaseLost(),
      attempt_running: new Conflict(mustComplete("running")),
    },
    responses: { 200: jsonReply(Progress(), "The directive.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Runners", description: "Claiming, executing and reporting deployments." }];

export const document: FeatureDocument = { tags, operations };
