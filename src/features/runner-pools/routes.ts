import { createRoute } from "@hono/zod-openapi";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  NO_CONTENT,
} from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
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

const list = createRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "listRunnerPools",
  tags: ["Runner pools"],
  summary: "List the runner pools of an organization",
  description: NEEDS.admin,
  security: API_KEY,
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: jsonReply(RunnerPoolList, "A page of runner pools."), ...ERROR_REPLIES },
});

const create = createRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  tags: ["Runner pools"],
  summary: "Create a runner pool",
  description: `${NEEDS.admin} Its runners may claim the deployments of its environments.`,
  security: API_KEY,
  request: { params: OrganizationParams, body: jsonBody(CreateRunnerPool) },
  responses: { 201: jsonReply(RunnerPool, "The runner pool."), ...ERROR_REPLIES },
});

const get = createRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  tags: ["Runner pools"],
  summary: "Read a runner pool",
  description: NEEDS.admin,
  security: API_KEY,
  request: { params: RunnerPoolParams },
  responses: { 200: jsonReply(RunnerPool, "The runner pool."), ...ERROR_REPLIES },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  tags: ["Runner pools"],
  summary: "Delete a runner pool",
  description:
    `${NEEDS.admin} Also deletes its tokens. While one of its runners carries out a deployment, ` +
    "the request is a `conflict`.",
  security: API_KEY,
  request: { params: RunnerPoolParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
});

const createOne = createRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  tags: ["Runner pools"],
  summary: "Create a runner token",
  description: `${NEEDS.admin} The token authenticates requests to \`/v1/runner/*\` and reports of alarms.`,
  security: API_KEY,
  request: { params: RunnerPoolParams, body: jsonBody(CreateRunnerToken) },
  responses: {
    201: jsonReply(CreatedRunnerToken, "The token, shown only once."),
    ...ERROR_REPLIES,
  },
});

const revoke = createRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  tags: ["Runner pools"],
  summary: "Revoke a runner token",
  description: `${NEEDS.admin} Requests with the token fail from then on.`,
  security: API_KEY,
  request: { params: RunnerTokenParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
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
  .openapi(createOne, async (c) => {
    const { org_id, pool_id } = c.req.valid("param");
    const created = await createToken(c.env, org_id, pool_id, c.req.valid("json"));
    return c.json(presentCreatedToken(created), 201);
  })
  .openapi(revoke, async (c) => {
    const { org_id, pool_id, token_id } = c.req.valid("param");
    await revokeToken(c.env, org_id, pool_id, token_id);
    return c.body(null, 204);
  });
