import { jsonBody } from "../../../http/bodies.ts";
import type { RunnerEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { DIRECTIVE_HEADER } from "./directive.ts";
import type { Documented } from "./document.ts";
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
import {
  AttemptParams,
  ClaimInput,
  CompletionInput,
  LeaseHeaders,
  StackOfAttemptParams,
  StackReport,
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

const RETRY_AFTER_SECONDS = "5";

const claim = operation({
  method: "post",
  path: "/v1/runner/claims",
  operationId: "claimDeployment",
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({ body: jsonBody(ClaimInput()) }),
});

const list = operation({
  method: "get",
  path: "/v1/runner/attempts",
  operationId: "listAttempts",
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({ query: ListQuery() }),
});

const start = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/start",
  operationId: "startAttempt",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({ params: AttemptParams(), headers: LeaseHeaders() }),
});

const heartbeat = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/heartbeat",
  operationId: "sendHeartbeat",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({ params: AttemptParams(), headers: LeaseHeaders() }),
});

const variables = operation({
  method: "get",
  path: "/v1/runner/attempts/{attempt_id}/variables",
  operationId: "deliverVariables",
  credentials: ["runner_token"],
  policy: "runner",
  writes: true,
  request: () => ({ params: AttemptParams(), headers: LeaseHeaders() }),
});

const report = operation({
  method: "put",
  path: "/v1/runner/attempts/{attempt_id}/stacks/{stack_id}",
  operationId: "reportStack",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({
    params: StackOfAttemptParams(),
    headers: LeaseHeaders(),
    body: jsonBody(StackReport()),
  }),
});

const complete = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/complete",
  operationId: "completeAttempt",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({
    params: AttemptParams(),
    headers: LeaseHeaders(),
    body: jsonBody(CompletionInput()),
  }),
});

const release = operation({
  method: "post",
  path: "/v1/runner/attempts/{attempt_id}/release",
  operationId: "releaseAttempt",
  exemptFromBudget: true,
  credentials: ["runner_token"],
  policy: "runner",
  request: () => ({ params: AttemptParams(), headers: LeaseHeaders() }),
});

export const runnerRoutes = createRouter<Documented, RunnerEnv>()
  .openapi(claim, async (c) => {
    const claimed = await claimDeployment(c.env, toClaimRequest(c.req.valid("json")));
    if (!claimed) return c.body(null, 204, { "retry-after": RETRY_AFTER_SECONDS });
    return c.json(presentClaim(claimed, c.env), 200, { [DIRECTIVE_HEADER]: claimed.directive });
  })
  .openapi(list, async (c) => {
    const page = await listAttempts(c.env, toPageRequest(c.req.valid("query")));
    return c.json(
      toEnvelope(page, (row) => presentClaim(row, c.env)),
      200,
    );
  })
  .openapi(start, async (c) => {
    const credentials = toLeaseCredentials(c.req.valid("param"), c.req.valid("header"));
    const started = await startAttempt(c.env, credentials);
    return c.json(presentStart(started, c.env), 200, { [DIRECTIVE_HEADER]: started.directive });
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
    const reported = await reportStack(c.env, credentials, input);
    return c.json(presentReported(reported), 200, { [DIRECTIVE_HEADER]: reported.directive });
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
