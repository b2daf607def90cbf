import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { RunnerPoolParams } from "../index.ts";
import type { Documented } from "./document.ts";
import { presentAttempt } from "./presenters.ts";
import { listAttempts } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts",
  operationId: "listRunnerPoolAttempts",
  polled: true,
  scope: "runners:read",
  policy: "polling",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

export const attemptRoutes = createRouter<Documented>().openapi(list, async (c) => {
  const { org_id, pool_id } = c.req.valid("param");
  const page = toPageRequest(c.req.valid("query"));
  return c.json(toEnvelope(await listAttempts(c.env, org_id, pool_id, page), presentAttempt), 200);
});
