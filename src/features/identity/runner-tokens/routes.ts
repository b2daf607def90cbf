import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { RunnerPoolParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Output } from "../../../lib/schemas.ts";
import type { Documented } from "./document.ts";
import { presentToken, presentTokenSecret } from "./presenters.ts";
import { CreateRunnerToken, RotateRunnerToken, RunnerTokenParams } from "./schemas.ts";
import { createToken, getToken, listTokens, revokeToken, rotateToken } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "listRunnerTokens",
  polled: true,
  presentEach: presentToken,
  scope: "runners:read",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "getRunnerToken",
  resource: true,
  present: presentToken,
  scope: "runners:read",
  request: () => ({ params: RunnerTokenParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  status: 201,
  resource: true,
  present: presentToken,
  presentSecrets: presentTokenSecret,
  location: get,
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
  location: get,
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

export const runnerTokenRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listTokens(ctx, params.org_id, params.pool_id, toPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body: { name, expires_at } }) => {
    const expiresAt = expires_at ? Date.parse(expires_at) : undefined;
    return createToken(ctx, params.org_id, params.pool_id, { name, expiresAt });
  })
  .handle(get, ({ ctx, params }) => getToken(ctx, toIds(params)))
  .handle(rotate, ({ ctx, params, body }) => rotateToken(ctx, toIds(params), body.overlap_seconds))
  .handle(revoke, ({ ctx, params }) => revokeToken(ctx, toIds(params)));

function toIds({ org_id, pool_id, token_id }: Output<typeof RunnerTokenParams>) {
  return { organizationId: org_id, poolId: pool_id, id: token_id };
}
