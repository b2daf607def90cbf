import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter, type RunnerEnv } from "../../http/router.ts";
import { ApiError, Conflict } from "../../lib/errors.ts";
import { DIRECTIVE_HEADER } from "./directive.ts";
import {
  presentClaim,
  presentCompleted,
  presentDelivery,
  presentProgress,
  presentStart,
  toCompletion,
  toLeaseCredentials,
  toReport,
} from "./presenters.ts";
import { reportStack } from "./report.ts";
import {
  AttemptParams,
  Claim,
  ClaimInput,
  ClaimList,
  CompletedAttempt,
  CompletionInput,
  DeliveredVariables,
  LeaseHeaders,
  Progress,
  StackOfAttemptParams,
  StackReport,
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

const claim = operation({
  method: "post",
  path: "/v1/runner/claims",
  operationId: "claimDeployment",
  tags: ["Runners"],
  summary: "Claim a deployment",
  description:
    "Offers the oldest deployment that may start in an environment of your pool. " +
    "The same `request_id` returns the same attempt.",
  credentials: ["runner_token"],
  policy: "runner",
  request: { body: jsonBody(ClaimInput()) },
  responses: {
    200: jsonReply(Claim(), "An attempt."),
    204: { description: "No deployment to execute; see Retry-After." },
  },
});

const list = operation({
  method: "get",
  path: "/v1/runner/attempts",
  operationId: "listAttempts",
  tags: ["Runners"],
  summary: "List your live attempts",
  description:
    "Returns the attempts that were claimed with this token and have not ended, for a runner that " +
    "lost its state. Each is as its claim returned it.",
  credentials: ["runner_token"],
  policy: "runner",
  request: { query: ListQuery() },
  responses: { 200: jsonReply(ClaimList(), "A page of attempts.") },
});

const start = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/start",
  operationId: "startAttempt",
  tags: ["Runners"],
  summary: "Start an attempt",
  description:
    "Start it within 60 seconds; otherwise the offer expires and the deployment is queued again, " +
    "at most five times. If the environment's configuration has changed since the deployment was created, the " +
    "patch is applied to the current one: execute the patch of this reply. If it does not apply, " +
    `the deployment fails: a \`conflict\` with the reason \`patch_conflict\` in \`cause\`. ${LOST}`,
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    patch_conflict: new ApiError(
      "conflict",
      'The deployment has failed. patch_conflict: operation 0: "/replicas" does not have the value of the test.',
      {
        cause: { reason: "patch_conflict" },
      },
    ),
    configuration_changing: new Conflict(
      "The configuration keeps changing. Start the attempt again.",
    ),
  },
  request: { params: AttemptParams(), headers: LeaseHeaders() },
  responses: { 200: jsonReply(StartedAttempt(), "The deployment to execute.") },
});

const heartbeat = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/heartbeat",
  operationId: "sendHeartbeat",
  tags: ["Runners"],
  summary: "Renew the lease of an attempt",
  description: LOST,
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_not_started: new Conflict("Start the attempt first."),
  },
  request: { params: AttemptParams(), headers: LeaseHeaders() },
  responses: { 200: jsonReply(Progress(), "The directive.") },
});

const variables = operation({
  method: "get",
  path: "/v1/runner/attempts/{attempt_id}/variables",
  operationId: "deliverVariables",
  tags: ["Runners"],
  summary: "Read the values of the variables",
  description:
    "Only while the lease is valid. Give a stack the variables of the environment and, over them, " +
    "those of its own component, never another's. The audit log records every read.",
  credentials: ["runner_token"],
  policy: "runner",
  writes: true,
  notFound: ["attempt"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_not_started: new Conflict("Start the attempt first."),
    lease_stale: new Conflict("The lease is stale. Send a heartbeat first."),
  },
  request: { params: AttemptParams(), headers: LeaseHeaders() },
  responses: { 200: jsonReply(DeliveredVariables(), "The values.") },
});

const report = operation({
  method: "put",
  path: "/v1/runner/attempts/{attempt_id}/stacks/{stack_id}",
  operationId: "reportStack",
  tags: ["Runners"],
  summary: "Report a stack",
  description: `Ignores older reports, and reports of a stack that has ended. ${LOST}`,
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt", "stack in the deployment"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_not_started: new Conflict("Start the attempt first."),
    stack_ended: new Conflict("The stack has ended. Its status is final."),
  },
  request: {
    params: StackOfAttemptParams(),
    headers: LeaseHeaders(),
    body: jsonBody(StackReport()),
  },
  responses: { 200: jsonReply(Progress(), "The directive.") },
});

const complete = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/complete",
  operationId: "completeAttempt",
  tags: ["Runners"],
  summary: "Complete an attempt",
  description: `Repeating it with the same body changes nothing. ${LOST}`,
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_not_started: new Conflict("Start the attempt first."),
    other_outcome: new Conflict("The attempt was completed with another outcome."),
  },
  request: { params: AttemptParams(), headers: LeaseHeaders(), body: jsonBody(CompletionInput()) },
  responses: { 200: jsonReply(CompletedAttempt(), "The outcome.") },
});

const release = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/release",
  operationId: "releaseAttempt",
  tags: ["Runners"],
  summary: "Give an offer back",
  description: `Only before it is started. The deployment is queued again. ${LOST}`,
  credentials: ["runner_token"],
  policy: "runner",
  notFound: ["attempt"],
  errors: {
    lease_lost: new Conflict(
      "The attempt has ended, or the lease token is of another attempt. Stop.",
    ),
    attempt_running: new Conflict("The attempt is running: complete it."),
  },
  request: { params: AttemptParams(), headers: LeaseHeaders() },
  responses: { 200: jsonReply(Progress(), "The directive.") },
});

export const runnerRoutes = createRouter<RunnerEnv>()
  .openapi(claim, async (c) => {
    const claimed = await claimDeployment(c.env, c.req.valid("json").request_id);
    if (!claimed) return c.body(null, 204, { "retry-after": RETRY_AFTER_SECONDS });
    return c.json(presentClaim(claimed), 200, { [DIRECTIVE_HEADER]: claimed.directive });
  })
  .openapi(list, async (c) => {
    const page = await listAttempts(c.env, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentClaim), 200);
  })
  .openapi(start, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const started = await startAttempt(c.env, credentials);
    return c.json(presentStart(started), 200, { [DIRECTIVE_HEADER]: started.directive });
  })
  .openapi(heartbeat, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const directive = await sendHeartbeat(c.env, credentials);
    return c.json(presentProgress(directive), 200, { [DIRECTIVE_HEADER]: directive });
  })
  .openapi(variables, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const { delivery, directive } = await deliverVariables(c.env, credentials);
    return c.json(presentDelivery(delivery), 200, { [DIRECTIVE_HEADER]: directive });
  })
  .openapi(report, async (c) => {
    const { stack_id, ...param } = c.req.valid("param");
    const input = { stackId: stack_id, ...toReport(c.req.valid("json")) };
    const credentials = toLeaseCredentials(param, c.req.valid("header"));
    const directive = await reportStack(c.env, credentials, input);
    return c.json(presentProgress(directive), 200, { [DIRECTIVE_HEADER]: directive });
  })
  .openapi(complete, async (c) => {
    const completion = toCompletion(c.req.valid("json"));
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const attempt = await completeAttempt(c.env, credentials, completion);
    return c.json(presentCompleted(attempt), 200, { [DIRECTIVE_HEADER]: "stop" });
  })
  .openapi(release, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const directive = await releaseAttempt(c.env, credentials);
    return c.json(presentProgress(directive), 200, { [DIRECTIVE_HEADER]: directive });
  });
