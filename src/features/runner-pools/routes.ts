import type { Context } from "hono";
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
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import type { RunnerPoolChange } from "./model.ts";
import { presentCreatedToken, presentPool, presentToken } from "./presenters.ts";
import {
  CreatedRunnerToken,
  CreateRunnerPool,
  CreateRunnerToken,
  RotateRunnerToken,
  RunnerPool,
  RunnerPoolList,
  RunnerPoolParams,
  RunnerToken,
  RunnerTokenList,
  RunnerTokenParams,
  UpdateRunnerPool,
} from "./schemas.ts";
import { createPool, deletePool, getPool, listPools, updatePool } from "./service.ts";
import {
  CREATOR_REVOKED,
  createToken,
  getToken,
  listTokens,
  NOT_ROTATED,
  revokeToken,
  rotateToken,
  TOKEN_OUTLIVES_KEY,
} from "./token-service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "listRunnerPools",
  tags: ["Runner pools"],
  summary: "List the runner pools of an organization",
  role: "admin",
  scope: "runners:read",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: jsonReply(RunnerPoolList(), "A page of runner pools.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools",
  operationId: "createRunnerPool",
  tags: ["Runner pools"],
  summary: "Create a runner pool",
  role: "admin",
  record: true,
  scope: "runners:write",
  description: `Its runners may claim the deployments of its environments.`,
  notFound: ["organization", "environment in the organization"],
  errors: {
    pool_name_taken: new Conflict(
      "The organization already has a runner pool with this name. Choose another name.",
    ),
    pool_limit: new LimitReached(LIMITS.runnerPools.value, "runner pools"),
  },
  request: { params: OrganizationParams(), body: jsonBody(CreateRunnerPool()) },
  responses: { 201: jsonReply(RunnerPool(), "The runner pool.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "getRunnerPool",
  tags: ["Runner pools"],
  summary: "Read a runner pool",
  role: "admin",
  record: true,
  scope: "runners:read",
  notFound: ["organization", "runner pool"],
  request: { params: RunnerPoolParams() },
  responses: { 200: jsonReply(RunnerPool(), "The runner pool.") },
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "updateRunnerPool",
  tags: ["Runner pools"],
  summary: "Change a runner pool",
  role: "admin",
  record: true,
  scope: "runners:write",
  description:
    "A field that is absent stays as it is. Attempts that the pool's runners have claimed continue: other " +
    "environments apply to the next claims, and another maximum duration to the next starts.",
  notFound: ["organization", "runner pool", "environment in the organization"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    pool_name_taken: new Conflict(
      "The organization already has a runner pool with this name. Choose another name.",
    ),
  },
  request: { params: RunnerPoolParams(), body: jsonBody(UpdateRunnerPool()) },
  responses: { 200: jsonReply(RunnerPool(), "The runner pool.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
  operationId: "deleteRunnerPool",
  tags: ["Runner pools"],
  summary: "Delete a runner pool",
  role: "admin",
  record: true,
  scope: "runners:write",
  description:
    `Deletes its tokens and the trusts that name it, too. While one of its runners executes a deployment, this ` +
    "is a `conflict`.",
  notFound: ["organization", "runner pool"],
  errors: {
    pool_in_use: new Conflict("A runner of the pool carries out a deployment. Cancel it first."),
  },
  request: { params: RunnerPoolParams() },
  responses: { 204: NO_CONTENT },
});

const listTokensOfPool = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "listRunnerTokens",
  tags: ["Runner pools"],
  summary: "List the tokens of a runner pool",
  role: "admin",
  polled: true,
  scope: "runners:read",
  description:
    "Without the tokens themselves. A token that has expired remains until it is revoked, except for " +
    "a token of a trust, which is removed.",
  notFound: ["organization", "runner pool"],
  request: { params: RunnerPoolParams(), query: ListQuery() },
  responses: { 200: jsonReply(RunnerTokenList(), "A page of runner tokens.") },
});

const issueToken = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  tags: ["Runner pools"],
  summary: "Create a runner token",
  role: "admin",
  record: true,
  scope: "runners:write",
  description: `The token is valid for the runner endpoints, \`/v1/runner/*\`.`,
  notFound: ["organization", "runner pool"],
  errors: {
    token_expires_in_the_past: new BadInput([
      { path: "expires_at", message: "Send a time in the future." },
    ]),
    creator_revoked: new Conflict(CREATOR_REVOKED),
    token_outlives_key: new BadInput([{ path: "expires_at", message: TOKEN_OUTLIVES_KEY }]),
    runner_token_limit: new LimitReached(LIMITS.runnerTokens.value, "runner tokens"),
    pool_token_limit: new LimitReached(LIMITS.runnerTokensOfPool.value, "tokens of a runner pool"),
  },
  request: { params: RunnerPoolParams(), body: jsonBody(CreateRunnerToken()) },
  responses: { 201: jsonReply(CreatedRunnerToken(), "The token, shown once.") },
});

const readToken = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "getRunnerToken",
  tags: ["Runner pools"],
  summary: "Read a runner token",
  role: "admin",
  record: true,
  scope: "runners:read",
  description: "The response does not contain the token itself.",
  notFound: ["organization", "runner token"],
  request: { params: RunnerTokenParams() },
  responses: { 200: jsonReply(RunnerToken(), "The runner token.") },
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}/rotate",
  operationId: "rotateRunnerToken",
  tags: ["Runner pools"],
  summary: "Rotate a runner token",
  role: "admin",
  record: true,
  scope: "runners:write",
  description:
    "Creates a token with the same name, which is valid for as long as the old one was, but not longer " +
    "than your own key. The old token is revoked, or expires after the overlap.",
  notFound: ["organization", "runner token"],
  errors: {
    creator_revoked: new Conflict(CREATOR_REVOKED),
    token_of_trust: new Conflict(NOT_ROTATED),
    runner_token_limit: new LimitReached(LIMITS.runnerTokens.value, "runner tokens"),
    pool_token_limit: new LimitReached(LIMITS.runnerTokensOfPool.value, "tokens of a runner pool"),
  },
  request: { params: RunnerTokenParams(), body: jsonBody(RotateRunnerToken()) },
  responses: { 201: jsonReply(CreatedRunnerToken(), "The new token, shown once.") },
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  tags: ["Runner pools"],
  summary: "Revoke a runner token",
  role: "admin",
  record: true,
  scope: "runners:write",
  description: `The token's next request is refused.`,
  notFound: ["organization", "runner token"],
  request: { params: RunnerTokenParams() },
  responses: { 204: NO_CONTENT },
});

export const runnerPoolRoutes = createRouter()
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
