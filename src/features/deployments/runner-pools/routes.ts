import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, RunnerPoolParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Output } from "../../../lib/schemas.ts";
import { getPool } from "../../tenancy/index.ts";
import type { Documented } from "./document.ts";
import type { RunnerPoolChange } from "./model.ts";
import { presentPool } from "./presenters.ts";
import { CreateRunnerPool, UpdateRunnerPool } from "./schemas.ts";
import { createPool, deletePool, listPools, updatePool } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "listRunnerPools",
  presentEach: presentPool,
  scope: "runners:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  resource: true,
  present: presentPool,
  scope: "runners:read",
  request: () => ({ params: RunnerPoolParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  status: 201,
  resource: true,
  present: presentPool,
  location: get,
  scope: "runners:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateRunnerPool()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "updateRunnerPool",
  resource: true,
  present: presentPool,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams(), body: jsonBody(UpdateRunnerPool()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  status: 204,
  resource: true,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams() }),
});

export const runnerPoolRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listPools(ctx, params.org_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body: { name, environment_ids, max_run_seconds } }) => {
    const input = { name, environmentIds: environment_ids, maxRunSeconds: max_run_seconds };
    return createPool(ctx, params.org_id, input);
  })
  .handle(get, ({ ctx, params }) => getPool(ctx, params.org_id, params.pool_id))
  .handle(update, ({ ctx, params, body }) =>
    updatePool(ctx, params.org_id, params.pool_id, toChange(body)),
  )
  .handle(remove, ({ ctx, params }) => deletePool(ctx, params.org_id, params.pool_id));

function toChange(body: Output<typeof UpdateRunnerPool>): RunnerPoolChange {
  const { name, environment_ids: environmentIds, max_run_seconds: maxRunSeconds } = body;
  return { name, environmentIds, maxRunSeconds };
}
