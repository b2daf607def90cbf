import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { RunnerPoolParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentAttempt } from "./presenters.ts";
import { listAttempts } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts",
  operationId: "listRunnerPoolAttempts",
  polled: true,
  presentEach: presentAttempt,
  scope: "runners:read",
  policy: "polling",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

export const attemptRoutes = createRouter<Documented>().handle(list, ({ ctx, params, query }) =>
  listAttempts(ctx, params.org_id, params.pool_id, toPageRequest(query)),
);
