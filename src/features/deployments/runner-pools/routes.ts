import type { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, RunnerPoolParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { getPool } from "../../tenancy/index.ts";
import type { RunnerPoolChange } from "./model.ts";
import { ENVIRONMENT, NAME_TAKEN, POOL_IN_USE } from "./model.ts";
import { presentPool } from "./presenters.ts";
import { CreateRunnerPool, RunnerPool, RunnerPoolList, UpdateRunnerPool } from "./schemas.ts";
import { createPool, deletePool, listPools, updatePool } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "listRunnerPools",
  tags: ["Runner pools"],
  summary: "List the runner pools of an organization",
  access: { scope: "runners:read", role: "admin" },
  request: { params: OrganizationParams, query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: json(RunnerPoolList, "A page of runner pools.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  tags: ["Runner pools"],
  summary: "Read a runner pool",
  access: { scope: "runners:read", role: "admin" },
  resource: true,
  request: { params: RunnerPoolParams },
  responses: { 200: json(RunnerPool, "The runner pool.") },
  notFound: ["organization", "runner pool"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  tags: ["Runner pools"],
  summary: "Create a runner pool",
  description: `Its runners may claim the deployments of its environments.`,
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  changes: ["runner pools and their tokens"],
  request: { params: OrganizationParams, body: jsonBody(CreateRunnerPool) },
  responses: { 201: json(RunnerPool, "The runner pool.") },
  notFound: ["organization", ENVIRONMENT],
  errors: {
    pool_name_taken: NAME_TAKEN,
    pool_limit: new LimitReached(QUOTAS.runner_pools, "runner pools"),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "updateRunnerPool",
  tags: ["Runner pools"],
  summary: "Change a runner pool",
  description:
    "A field that is absent stays as it is. Attempts that the pool's runners have claimed continue: other " +
    "environments apply to the next claims, and another maximum duration to the next starts.",
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  changes: ["runner pools and their tokens"],
  request: { params: RunnerPoolParams, body: jsonBody(UpdateRunnerPool) },
  responses: { 200: json(RunnerPool, "The runner pool.") },
  notFound: ["organization", "runner pool", ENVIRONMENT],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    pool_name_taken: NAME_TAKEN,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  tags: ["Runner pools"],
  summary: "Delete a runner pool",
  description:
    `Deletes its tokens and the trusts that name it, too. While one of its runners executes a deployment, this ` +
    "is a `conflict`.",
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  changes: ["runner pools and their tokens"],
  request: { params: RunnerPoolParams },
  responses: { 204: noContent },
  notFound: ["organization", "runner pool"],
  errors: {
    pool_in_use: POOL_IN_USE,
  },
});

export const runnerPoolRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listPools(ctx, c.req.valid("param").org_id, toNamedPageRequest(c.req.valid("query"))),
      presentPool,
    ),
  )
  .openapi(create, (c) => {
    const { name, environment_ids, max_run_seconds } = c.req.valid("json");
    const input = { name, environmentIds: environment_ids, maxRunSeconds: max_run_seconds };
    return created(
      c,
      get.path,
      (ctx) => createPool(ctx, c.req.valid("param").org_id, input),
      presentPool,
    );
  })
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(c, (ctx) => getPool(ctx, params.org_id, params.pool_id), presentPool);
  })
  .openapi(update, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => updatePool(ctx, params.org_id, params.pool_id, toChange(c.req.valid("json"))),
      presentPool,
    );
  })
  .openapi(remove, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) => deletePool(ctx, params.org_id, params.pool_id));
  });

function toChange(body: z.output<typeof UpdateRunnerPool>): RunnerPoolChange {
  const { name, environment_ids: environmentIds, max_run_seconds: maxRunSeconds } = body;
  return { name, environmentIds, maxRunSeconds };
}
