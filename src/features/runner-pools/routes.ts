import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { presentCreatedToken, presentPool } from "./presenters.ts";
import {
  CreatedRunnerToken,
  CreateRunnerPool,
  CreateRunnerToken,
  RunnerPool,
  RunnerPoolList,
  RunnerPoolParams,
  RunnerTokenParams,
} from "./schemas.ts";
import { createPool, createToken, deletePool, getPool, listPools, revokeToken } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "listRunnerPools",
  tags: ["Runner pools"],
  summary: "List the runner pools of an organization",
  role: "admin",
  scope: "runners:read",
  notFound: ["organization"],
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: jsonReply(RunnerPoolList, "A page of runner pools.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  tags: ["Runner pools"],
  summary: "Create a runner pool",
  role: "admin",
  scope: "runners:write",
  description: `Its runners may claim the deployments of its environments.`,
  notFound: ["organization", "environment in the organization"],
  errors: {
    pool_name_taken: new Conflict(
      "The organization already has a runner pool with this name. Choose another name.",
    ),
    pool_limit: new LimitReached(LIMITS.runnerPools.value, "runner pools"),
  },
  request: { params: OrganizationParams, body: jsonBody(CreateRunnerPool) },
  responses: { 201: jsonReply(RunnerPool, "The runner pool.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  tags: ["Runner pools"],
  summary: "Read a runner pool",
  role: "admin",
  scope: "runners:read",
  notFound: ["organization", "runner pool"],
  request: { params: RunnerPoolParams },
  responses: { 200: jsonReply(RunnerPool, "The runner pool.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  tags: ["Runner pools"],
  summary: "Delete a runner pool",
  role: "admin",
  scope: "runners:write",
  description:
    `Deletes its tokens too. While one of its runners executes a deployment, this ` +
    "is a `conflict`.",
  notFound: ["organization", "runner pool"],
  errors: {
    pool_in_use: new Conflict("A runner of the pool carries out a deployment. Cancel it first."),
  },
  request: { params: RunnerPoolParams },
  responses: { 204: NO_CONTENT },
});

const issueToken = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  tags: ["Runner pools"],
  summary: "Create a runner token",
  role: "admin",
  scope: "runners:write",
  description: `The token is valid for the runner endpoints, \`/v1/runner/*\`.`,
  notFound: ["organization", "runner pool"],
  errors: {
    runner_token_limit: new LimitReached(LIMITS.runnerTokens.value, "runner tokens"),
    pool_token_limit: new LimitReached(LIMITS.runnerTokensOfPool.value, "tokens of a runner pool"),
  },
  request: { params: RunnerPoolParams, body: jsonBody(CreateRunnerToken) },
  responses: { 201: jsonReply(CreatedRunnerToken, "The token, shown once.") },
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  tags: ["Runner pools"],
  summary: "Revoke a runner token",
  role: "admin",
  scope: "runners:write",
  description: `The token's next request is refused.`,
  notFound: ["organization", "runner token"],
  request: { params: RunnerTokenParams },
  responses: { 204: NO_CONTENT },
});

export const runnerPoolRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listPools(c.env, org_id, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentPool), 200);
  })
  .openapi(create, async (c) => {
    const { name, environment_ids, max_run_seconds } = c.req.valid("json");
    const input = { name, environmentIds: environment_ids, maxRunSeconds: max_run_seconds };
    return c.json(presentPool(await createPool(c.env, c.req.valid("param").org_id, input)), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    return c.json(presentPool(await getPool(c.env, org_id, pool_id)), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    await deletePool(c.env, org_id, pool_id);
    return c.body(null, 204);
  })
  .openapi(issueToken, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    const created = await createToken(c.env, org_id, pool_id, c.req.valid("json"));
    return c.json(presentCreatedToken(created), 201);
  })
  .openapi(revoke, async (c) => {
    const { org_id, pool_id, token_id } = c.req.valid("param");
    await revokeToken(c.env, org_id, pool_id, token_id);
    return c.body(null, 204);
  });
