import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { RunnerPoolParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentAttempt, presentRunner } from "./presenters.ts";
import { listAttempts, listRunners } from "./service.ts";

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

const runners = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/runners",
  operationId: "listRunnerPoolRunners",
  polled: true,
  presentEach: presentRunner,
  scope: "runners:read",
  policy: "polling",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

/** Who works for a pool, and on what. */
export const attemptRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) => listAttempts(ctx, params, toPageRequest(query)))
  .handle(runners, ({ ctx, params, query }) => listRunners(ctx, params, toPageRequest(query)));
