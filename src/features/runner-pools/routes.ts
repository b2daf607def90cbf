import { jsonBody } from "../../http/bodies.ts";
import { operation } from "../../http/operation.ts";
import {
  ListQuery,
  namedListQuery,
  toNamedPageRequest,
  toPageRequest,
} from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import type { Documented } from "./document.ts";
import type { RunnerPoolChange } from "./model.ts";
import { presentPool, presentToken, presentTokenSecret } from "./presenters.ts";
import {
  CreateRunnerPool,
  CreateRunnerToken,
  RotateRunnerToken,
  RunnerPoolParams,
  RunnerTokenParams,
  UpdateRunnerPool,
} from "./schemas.ts";
import { createPool, deletePool, getPool, listPools, updatePool } from "./service.ts";
import { createToken, getToken, listTokens, revokeToken, rotateToken } from "./token-service.ts";

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

const listTokensOfPool = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "listRunnerTokens",
  polled: true,
  presentEach: presentToken,
  scope: "runners:read",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

const readToken = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "getRunnerToken",
  resource: true,
  present: presentToken,
  scope: "runners:read",
  request: () => ({ params: RunnerTokenParams() }),
});

const issueToken = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  status: 201,
  resource: true,
  present: presentToken,
  presentSecrets: presentTokenSecret,
  location: readToken,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams(), body: jsonBody(CreateRunnerToken()) }),
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}/rotate",
  operationId: "rotateRunnerToken",
  status: 201,
  resource: true,
  present: presentToken,
  presentSecrets: presentTokenSecret,
  location: readToken,
  scope: "runners:write",
  request: () => ({ params: RunnerTokenParams(), body: jsonBody(RotateRunnerToken()) }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  status: 204,
  resource: true,
  scope: "runners:write",
  request: () => ({ params: RunnerTokenParams() }),
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
  .handle(remove, ({ ctx, params }) => deletePool(ctx, params.org_id, params.pool_id))
  .handle(listTokensOfPool, ({ ctx, params, query }) =>
    listTokens(ctx, params.org_id, params.pool_id, toPageRequest(query)),
  )
  .handle(issueToken, ({ ctx, params, body: { name, expires_at } }) => {
    const expiresAt = expires_at ? Date.parse(expires_at) : undefined;
    return createToken(ctx, params.org_id, params.pool_id, { name, expiresAt });
  })
  .handle(readToken, ({ ctx, params }) => getToken(ctx, toIds(params)))
  .handle(rotate, ({ ctx, params, body }) => rotateToken(ctx, toIds(params), body.overlap_seconds))
  .handle(revoke, ({ ctx, params }) => revokeToken(ctx, toIds(params)));

function toIds({ org_id, pool_id, token_id }: Output<typeof RunnerTokenParams>) {
  return { organizationId: org_id, poolId: pool_id, id: token_id };
}

function toChange(body: Output<typeof UpdateRunnerPool>): RunnerPoolChange {
  const { name, environment_ids: environmentIds, max_run_seconds: maxRunSeconds } = body;
  return { name, environmentIds, maxRunSeconds };
}
