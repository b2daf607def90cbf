import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { json } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { ApiError, Conflict } from "../../../lib/errors.ts";
import { durationOf } from "../../../lib/quantities.ts";
import {
  MAXIMUM_LAPSED_OFFERS,
  MAXIMUM_RELEASED_OFFERS,
  OFFER_TTL_MS,
} from "../deployments/index.ts";
import { DIRECTIVE_HEADER } from "./directive.ts";
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
  presentClaim,
  presentCompleted,
  presentDelivery,
  presentProgress,
  presentReported,
  presentStart,
  toClaimRequest,
  toCompletion,
  toLeaseCredentials,
  toReport,
} from "./presenters.ts";
import { reportStack } from "./report.ts";
import { CompletionInput, StackReport } from "./report-schemas.ts";
import {
  AttemptParams,
  Claim,
  ClaimInput,
  ClaimList,
  CompletedAttempt,
  DeliveredVariables,
  LeaseHeaders,
  Progress,
  ReportedProgress,
  StackOfAttemptParams,
  StartedAttempt,
} from "./schemas.ts";
import {
  claimDeployment,
  completeAttempt,
  listAttempts,
  releaseAttempt,
  sendHeartbeat,
} from "./service.ts";
import { startAttempt } from "./start.ts";
import { deliverVariables } from "./variables.ts";

const LOST = "If the attempt is no longer yours, the reply is a `conflict`: stop.";

const RETRY_AFTER_SECONDS = "5";

const claim = apiRoute({
  method: "post",
  path: "/v1/runner/claims",
  operationId: "claimDeployment",
  tags: ["Runners"],
  summary: "Claim a deployment",
  description:
    "Offers the oldest deployment that may start in an environment of your pool. " +
    "The same `request_id` returns the same attempt. With a `deployment_id`, a CI job gets the outcome " +
    "of its own deployment, not of another's.",
  access: "runner",
  policy: "runner",
  request: { body: jsonBody(ClaimInput) },
  responses: {
    200: json(Claim, "An attempt."),
    204: { description: "No deployment to execute; see Retry-After." },
  },
  notFound: ["deployment"],
  errors: {
    deployment_ended: new DeploymentEnded("superseded"),
  },
});

const list = apiRoute({
  method: "get",
  path: "/v1/runner/attempts",
  operationId: "listAttempts",
  tags: ["Runners"],
  summary: "List your live attempts",
  description:
    "Returns the attempts that were claimed with this token and have not ended, for a runner that " +
    "lost its state. Each is as its claim returned it.",
  access: "runner",
  policy: "runner",
  request: { query: ListQuery },
  responses: { 200: json(ClaimList, "A page of attempts.") },
});

const start = apiRoute({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/start",
  operationId: "startAttempt",
  tags: ["Runners"],
  summary: "Start an attempt",
  description:
    `Start it within ${durationOf(OFFER_TTL_MS)}; otherwise the offer expires and the deployment is queued again, ` +
    `at most ${MAXIMUM_LAPSED_OFFERS} times. If the environment's configuration has changed since the deployment was created, the ` +
    "patch is applied to the current one: execute the patch of this reply. If it does not apply, " +
    `the deployment fails: a \`conflict\` with the reason \`patch_conflict\` in \`cause\`. ${LOST}`,
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: { params: AttemptParams, headers: LeaseHeaders },
  responses: { 200: json(StartedAttempt, "The deployment to execute.") },
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
});

const heartbeat = apiRoute({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/heartbeat",
  operationId: "sendHeartbeat",
  tags: ["Runners"],
  summary: "Renew the lease of an attempt",
  description: LOST,
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: { params: AttemptParams, headers: LeaseHeaders },
  responses: { 200: json(Progress, "The directive.") },
  notFound: ["attempt"],
  errors: {
    lease_lost: new LeaseLost(),
    attempt_not_started: new Conflict(NOT_STARTED),
  },
});

const variables = apiRoute({
  method: "get",
  path: "/v1/runner/attempts/{attempt_id}/variables",
  operationId: "deliverVariables",
  tags: ["Runners"],
  summary: "Read the values of the variables",
  description:
    "Only while the lease is valid. Give a stack the variables of the environment and, over them, " +
    "those of its own component, never another's. The audit log records every read.",
  access: "runner",
  policy: "runner",
  writes: true,
  request: { params: AttemptParams, headers: LeaseHeaders },
  responses: { 200: json(DeliveredVariables, "The values.") },
  notFound: ["attempt"],
  errors: {
    lease_lost: new LeaseLost(),
    attempt_not_started: new Conflict(NOT_STARTED),
    lease_stale: new Conflict(LEASE_STALE),
  },
});

const report = apiRoute({
  method: "put",
  path: "/v1/runner/attempts/{attempt_id}/stacks/{stack_id}",
  operationId: "reportStack",
  tags: ["Runners"],
  summary: "Report a stack",
  description: `Ignores older reports, and reports of a stack that has ended. ${LOST}`,
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: {
    params: StackOfAttemptParams,
    headers: LeaseHeaders,
    body: jsonBody(StackReport),
  },
  responses: { 200: json(ReportedProgress, "The directive.") },
  notFound: ["attempt", "stack in the deployment"],
  errors: {
    lease_lost: new LeaseLost(),
    attempt_not_started: new Conflict(NOT_STARTED),
    stack_ended: new Conflict(STACK_ENDED),
  },
});

const complete = apiRoute({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/complete",
  operationId: "completeAttempt",
  tags: ["Runners"],
  summary: "Complete an attempt",
  description: `Repeating it with the same body changes nothing. ${LOST}`,
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: {
    params: AttemptParams,
    headers: LeaseHeaders,
    body: jsonBody(CompletionInput),
  },
  responses: { 200: json(CompletedAttempt, "The outcome.") },
  notFound: ["attempt"],
  errors: {
    lease_lost: new LeaseLost(),
    attempt_not_started: new Conflict(NOT_STARTED),
    other_outcome: new Conflict(OTHER_OUTCOME),
  },
});

const release = apiRoute({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/release",
  operationId: "releaseAttempt",
  tags: ["Runners"],
  summary: "Give an offer back",
  description: `Only before it is started. The deployment is queued again; at its ${MAXIMUM_RELEASED_OFFERS}th release, it is failed with never_started. ${LOST}`,
  access: "runner",
  policy: "runner",
  exemptFromBudget: true,
  request: { params: AttemptParams, headers: LeaseHeaders },
  responses: { 200: json(Progress, "The directive.") },
  notFound: ["attempt"],
  errors: {
    lease_lost: new LeaseLost(),
    attempt_running: new Conflict(mustComplete("running")),
  },
});

export const runnerRoutes = createRouter()
  .openapi(claim, async (c) => {
    const claimed = await c.var.run((ctx) =>
      claimDeployment(ctx, toClaimRequest(c.req.valid("json"))),
    );
    if (!claimed) return c.body(null, 204, { "retry-after": RETRY_AFTER_SECONDS });
    return c.json(presentClaim(claimed, c.var.ctx), 200, { [DIRECTIVE_HEADER]: claimed.directive });
  })
  .openapi(list, async (c) => {
    const page = await c.var.run((ctx) => listAttempts(ctx, toPageRequest(c.req.valid("query"))));
    return c.json(
      toEnvelope(page, (row) => presentClaim(row, c.var.ctx)),
      200,
    );
  })
  .openapi(start, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const started = await c.var.run((ctx) => startAttempt(ctx, credentials));
    return c.json(presentStart(started, c.var.ctx), 200, { [DIRECTIVE_HEADER]: started.directive });
  })
  .openapi(heartbeat, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const directive = await c.var.run((ctx) => sendHeartbeat(ctx, credentials));
    return c.json(presentProgress(directive), 200, { [DIRECTIVE_HEADER]: directive });
  })
  .openapi(variables, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const { delivery, directive } = await c.var.run((ctx) => deliverVariables(ctx, credentials));
    return c.json(presentDelivery(delivery), 200, { [DIRECTIVE_HEADER]: directive });
  })
  .openapi(report, async (c) => {
    const { stack_id, ...param } = c.req.valid("param");
    const input = { stackId: stack_id, ...toReport(c.req.valid("json")) };
    const credentials = toLeaseCredentials(param, c.req.valid("header"));
    const reported = await c.var.run((ctx) => reportStack(ctx, credentials, input));
    return c.json(presentReported(reported), 200, { [DIRECTIVE_HEADER]: reported.directive });
  })
  .openapi(complete, async (c) => {
    const completion = toCompletion(c.req.valid("json"));
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const attempt = await c.var.run((ctx) => completeAttempt(ctx, credentials, completion));
    return c.json(presentCompleted(attempt), 200, { [DIRECTIVE_HEADER]: "stop" });
  })
  .openapi(release, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const directive = await c.var.run((ctx) => releaseAttempt(ctx, credentials));
    return c.json(presentProgress(directive), 200, { [DIRECTIVE_HEADER]: directive });
  });
