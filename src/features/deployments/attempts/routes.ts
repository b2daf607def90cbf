import { apiRoute } from "../../../http/api-route.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { RunnerPoolParams } from "../../../http/params.ts";
import { json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { presentAttempt, presentRunner } from "./presenters.ts";
import { RunnerPoolAttemptList, RunnerPoolRunnerList } from "./schemas.ts";
import { listAttempts, listRunners } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts",
  operationId: "listRunnerPoolAttempts",
  tags: ["Runner pools"],
  summary: "List the live attempts of a runner pool",
  description:
    "Needs the scope `deployments:read`, too. Returns the deployments that the pool's runners have been " +
    "offered or execute now. An attempt leaves the list when it ends, and when its runner is lost.",
  access: { scope: "runners:read", role: "admin" },
  policy: "polling",
  polled: true,
  request: { params: RunnerPoolParams, query: ListQuery },
  responses: { 200: json(RunnerPoolAttemptList, "A page of attempts.") },
  notFound: ["organization", "runner pool"],
  errors: { lacks_deployments: Unauthorized.scope("deployments:read") },
});

const runners = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/runners",
  operationId: "listRunnerPoolRunners",
  tags: ["Runner pools"],
  summary: "List the runners of a runner pool that are online",
  description:
    "Needs the scope `deployments:read`, too. Returns the runners that have asked for work in the last " +
    `${durationOf(LIMITS.runnerOnlineMs.value)}, or that have a deployment now. Of a pool, the ` +
    `${LIMITS.runnersOfPool.value} that asked last are kept.`,
  access: { scope: "runners:read", role: "admin" },
  policy: "polling",
  polled: true,
  request: { params: RunnerPoolParams, query: ListQuery },
  responses: { 200: json(RunnerPoolRunnerList, "A page of runners.") },
  notFound: ["organization", "runner pool"],
  errors: { lacks_deployments: Unauthorized.scope("deployments:read") },
});

/** Who works for a pool, and on what. */
export const attemptRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) => listAttempts(ctx, c.req.valid("param"), toPageRequest(c.req.valid("query"))),
      presentAttempt,
    ),
  )
  .openapi(runners, (c) =>
    page(
      c,
      (ctx) => listRunners(ctx, c.req.valid("param"), toPageRequest(c.req.valid("query"))),
      presentRunner,
    ),
  );
