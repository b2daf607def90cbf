import type { Context } from "hono";
import { jsonBody } from "../../http/bodies.ts";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import {
  ListQuery,
  namedListQuery,
  toEnvelope,
  toNamedPageRequest,
  toPageRequest,
} from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import type { RunnerPoolChange } from "./model.ts";
import { presentCreatedToken, presentPool, presentToken } from "./presenters.ts";
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
  scope: "runners:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  status: 201,
  record: true,
  scope: "runners:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateRunnerPool()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  record: true,
  scope: "runners:read",
  request: () => ({ params: RunnerPoolParams() }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "updateRunnerPool",
  record: true,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams(), body: jsonBody(UpdateRunnerPool()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  status: 204,
  record: true,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams() }),
});

const listTokensOfPool = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "listRunnerTokens",
  polled: true,
  scope: "runners:read",
  request: () => ({ params: RunnerPoolParams(), query: ListQuery() }),
});

const issueToken = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  status: 201,
  record: true,
  scope: "runners:write",
  request: () => ({ params: RunnerPoolParams(), body: jsonBody(CreateRunnerToken()) }),
});

const readToken = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "getRunnerToken",
  record: true,
  scope: "runners:read",
  request: () => ({ params: RunnerTokenParams() }),
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}/rotate",
  operationId: "rotateRunnerToken",
  status: 201,
  record: true,
  scope: "runners:write",
  request: () => ({ params: RunnerTokenParams(), body: jsonBody(RotateRunnerToken()) }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  status: 204,
  record: true,
  scope: "runners:write",
  request: () => ({ params: RunnerTokenParams() }),
});

export const runnerPoolRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listPools(c.env, org_id, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentPool), 200);
  })
  .openapi(create, async (c) => {
    const { name, environment_ids, max_run_seconds } = c.req.valid("json");
    const input = { name, environmentIds: environment_ids, maxRunSeconds: max_run_seconds };
    const { org_id } = c.req.valid("param");
    const pool = await once(c.env, createPool, org_id, input);
    setLocation(c, get, { org_id, pool_id: pool.id });
    return c.json(await tagPool(c, pool), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    return c.json(await tagPool(c, await getPool(c.env, org_id, pool_id)), 200);
  })
  .openapi(update, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    const change = toChange(c.req.valid("json"));
    const pool = await once(c.env, updatePool, org_id, pool_id, change);
    return c.json(await tagPool(c, pool), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    await deletePool(c.env, org_id, pool_id);
    return c.body(null, 204);
  })
  .openapi(listTokensOfPool, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    const page = await listTokens(c.env, org_id, pool_id, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentToken), 200);
  })
  .openapi(issueToken, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    const { name, expires_at } = c.req.valid("json");
    const expiresAt = expires_at ? Date.parse(expires_at) : undefined;
    const input = { name, expiresAt };
    const created = await once(c.env, createToken, org_id, pool_id, input);
    return c.json(await presentAndLocate(c, created), 201);
  })
  .openapi(readToken, async (c) => {
    const { org_id: organizationId, pool_id: poolId, token_id: id } = c.req.valid("param");
    return c.json(await tagToken(c, await getToken(c.env, { organizationId, poolId, id })), 200);
  })
  .openapi(rotate, async (c) => {
    const { org_id: organizationId, pool_id: poolId, token_id: id } = c.req.valid("param");
    const { overlap_seconds } = c.req.valid("json");
    const ids = { organizationId, poolId, id };
    const rotated = await once(c.env, rotateToken, ids, overlap_seconds);
    return c.json(await presentAndLocate(c, rotated), 201);
  })
  .openapi(revoke, async (c) => {
    const { org_id: organizationId, pool_id: poolId, token_id: id } = c.req.valid("param");
    await revokeToken(c.env, { organizationId, poolId, id });
    return c.body(null, 204);
  });

function tagPool(c: Context, row: Parameters<typeof presentPool>[0]) {
  return tagged(c, row.recordVersion, presentPool(row));
}

function tagToken(c: Context, row: Parameters<typeof presentToken>[0]) {
  return tagged(c, row.version, presentToken(row));
}

async function presentAndLocate(c: Context, created: Parameters<typeof presentCreatedToken>[0]) {
  const { id, organizationId, poolId } = created.row;
  setLocation(c, readToken, { org_id: organizationId, pool_id: poolId, token_id: id });
  await tagToken(c, created.row);
  return presentCreatedToken(created);
}

function toChange(body: Output<typeof UpdateRunnerPool>): RunnerPoolChange {
  const { name, environment_ids: environmentIds, max_run_seconds: maxRunSeconds } = body;
  return { name, environmentIds, maxRunSeconds };
}
