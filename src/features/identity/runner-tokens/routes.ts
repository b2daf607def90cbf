import type { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { RunnerPoolParams } from "../../../http/params.ts";
import { createdWithSecrets, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { IN_THE_PAST } from "../../../lib/time-messages.ts";
import { presentToken, presentTokenSecret } from "./presenters.ts";
import {
  CreatedRunnerToken,
  CreateRunnerToken,
  RotateRunnerToken,
  RunnerToken,
  RunnerTokenList,
  RunnerTokenParams,
} from "./schemas.ts";
import {
  CREATOR_REVOKED,
  createToken,
  getToken,
  listTokens,
  NOT_ROTATED,
  revokeToken,
  rotateToken,
  TOKEN_OUTLIVES_KEY,
} from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "listRunnerTokens",
  tags: ["Runner pools"],
  summary: "List the tokens of a runner pool",
  description:
    "Without the tokens themselves. A token that has expired remains until it is revoked, except for " +
    "a token of a trust, which is removed.",
  access: { scope: "runners:read", role: "admin" },
  polled: true,
  request: { params: RunnerPoolParams, query: ListQuery },
  responses: { 200: json(RunnerTokenList, "A page of runner tokens.") },
  notFound: ["organization", "runner pool"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "getRunnerToken",
  tags: ["Runner pools"],
  summary: "Read a runner token",
  description: "The response does not contain the token itself.",
  access: { scope: "runners:read", role: "admin" },
  resource: true,
  request: { params: RunnerTokenParams },
  responses: { 200: json(RunnerToken, "The runner token.") },
  notFound: ["organization", "runner token"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens",
  operationId: "createRunnerToken",
  tags: ["Runner pools"],
  summary: "Create a runner token",
  description: `The token is valid for the runner endpoints, \`/v1/runner/*\`.`,
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  changes: ["runner pools and their tokens"],
  request: { params: RunnerPoolParams, body: jsonBody(CreateRunnerToken) },
  responses: { 201: json(CreatedRunnerToken, "The token, shown once.") },
  notFound: ["organization", "runner pool"],
  errors: {
    token_expires_in_the_past: new BadInput([{ path: "expires_at", message: IN_THE_PAST }]),
    creator_revoked: new Conflict(CREATOR_REVOKED),
    token_outlives_key: new BadInput([{ path: "expires_at", message: TOKEN_OUTLIVES_KEY }]),
    runner_token_limit: new LimitReached(QUOTAS.runner_tokens, "runner tokens"),
    pool_token_limit: new LimitReached(LIMITS.runnerTokensOfPool.value, "tokens of a runner pool"),
  },
});

const rotate = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}/rotate",
  operationId: "rotateRunnerToken",
  tags: ["Runner pools"],
  summary: "Rotate a runner token",
  description:
    "Creates a token with the same name, which is valid for as long as the old one was, but not longer " +
    "than your own key. The old token is revoked, or expires after the overlap.",
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  changes: ["runner pools and their tokens"],
  request: { params: RunnerTokenParams, body: jsonBody(RotateRunnerToken) },
  responses: { 201: json(CreatedRunnerToken, "The new token, shown once.") },
  notFound: ["organization", "runner token"],
  errors: {
    creator_revoked: new Conflict(CREATOR_REVOKED),
    token_of_trust: new Conflict(NOT_ROTATED),
    runner_token_limit: new LimitReached(QUOTAS.runner_tokens, "runner tokens"),
    pool_token_limit: new LimitReached(LIMITS.runnerTokensOfPool.value, "tokens of a runner pool"),
  },
});

const revoke = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}",
  operationId: "revokeRunnerToken",
  tags: ["Runner pools"],
  summary: "Revoke a runner token",
  description: `The token's next request is refused.`,
  access: { scope: "runners:write", role: "admin" },
  resource: true,
  request: { params: RunnerTokenParams },
  responses: { 204: noContent },
  notFound: ["organization", "runner token"],
});

export const runnerTokenRoutes = createRouter()
  .openapi(list, (c) => {
    const params = c.req.valid("param");
    return page(
      c,
      (ctx) => listTokens(ctx, params.org_id, params.pool_id, toPageRequest(c.req.valid("query"))),
      presentToken,
    );
  })
  .openapi(create, (c) => {
    const params = c.req.valid("param");
    const { name, expires_at } = c.req.valid("json");
    const expiresAt = expires_at ? Date.parse(expires_at) : undefined;
    return createdWithSecrets(
      c,
      get.path,
      (ctx) => createToken(ctx, params.org_id, params.pool_id, { name, expiresAt }),
      presentToken,
      { secrets: presentTokenSecret },
    );
  })
  .openapi(get, (c) => ok(c, (ctx) => getToken(ctx, toIds(c.req.valid("param"))), presentToken))
  .openapi(rotate, (c) =>
    createdWithSecrets(
      c,
      get.path,
      (ctx) => rotateToken(ctx, toIds(c.req.valid("param")), c.req.valid("json").overlap_seconds),
      presentToken,
      { secrets: presentTokenSecret },
    ),
  )
  .openapi(revoke, (c) => done(c, (ctx) => revokeToken(ctx, toIds(c.req.valid("param")))));

function toIds({ org_id, pool_id, token_id }: z.output<typeof RunnerTokenParams>) {
  return { organizationId: org_id, poolId: pool_id, id: token_id };
}
