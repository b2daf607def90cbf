import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { jsonReply } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { RunnerPoolParams } from "../index.ts";
import { presentAttempt } from "./presenters.ts";
import { RunnerPoolAttemptList } from "./schemas.ts";
import { listAttempts } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts",
  operationId: "listRunnerPoolAttempts",
  tags: ["Runner pools"],
  summary: "List the live attempts of a runner pool",
  role: "admin",
  polled: true,
  scope: "runners:read",
  description:
    "Needs the scope `deployments:read`, too. Returns the deployments that the pool's runners have been " +
    "offered or execute now. An attempt leaves the list when it ends, and when its runner is lost.",
  policy: "polling",
  notFound: ["organization", "runner pool"],
  errors: { lacks_deployments: Unauthorized.scope("deployments:read") },
  request: { params: RunnerPoolParams(), query: ListQuery() },
  responses: { 200: jsonReply(RunnerPoolAttemptList(), "A page of attempts.") },
});

export const attemptRoutes = createRouter().openapi(list, async (c) => {
  const { org_id, pool_id } = c.req.valid("param");
  const page = toPageRequest(c.req.valid("query"));
  return c.json(toEnvelope(await listAttempts(c.env, org_id, pool_id, page), presentAttempt), 200);
});
