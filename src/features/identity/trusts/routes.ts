import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import type { RouteDeps } from "../../../http/lazily.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page, unchanging } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, LimitReached, Unauthenticated, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { CREATOR_CHANGED, exceedingKey } from "../api-keys/index.ts";
import { PENDING_MEMBER } from "../memberships/index.ts";
import { exchangeToken } from "./exchange-service.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import type { Exchanged, TrustInput } from "./model.ts";
import { MALFORMED } from "./model.ts";
import { presentExchanged, presentTrust } from "./presenters.ts";
import {
  CreateTrust,
  ExchangedKey,
  ExchangeToken,
  Trust,
  TrustList,
  TrustParams,
} from "./schemas.ts";
import {
  createTrust,
  deleteTrust,
  EXPIRING_KEY,
  getTrust,
  listTrusts,
  ONE_TARGET,
} from "./service.ts";
import { issuerUnavailable, REFUSED } from "./token.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "listTrusts",
  tags: ["Trusts"],
  summary: "List the trusts of an organization",
  access: { scope: "keys:read", role: "admin" },
  request: { params: OrganizationParams, query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: json(TrustList, "A page of trusts.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "getTrust",
  tags: ["Trusts"],
  summary: "Read a trust",
  access: { scope: "keys:read", role: "admin" },
  resource: true,
  request: { params: TrustParams },
  responses: { 200: json(Trust, "The trust.") },
  notFound: ["organization", "trust"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "createTrust",
  tags: ["Trusts"],
  summary: "Create a trust",
  description:
    "Its keys cannot do more than the key that creates it: the rules are those of creating an API key. " +
    "The issuer must answer with its keys.",
  access: { scope: "keys:write", role: "admin" },
  resource: true,
  changes: ["trusts"],
  request: { params: OrganizationParams, body: jsonBody(CreateTrust) },
  responses: { 201: json(Trust, "The trust.") },
  notFound: ["organization", "membership", "runner pool", "project", "environment"],
  errors: {
    trust_without_target: new BadInput([{ path: "membership_id", message: ONE_TARGET }]),
    issuer_without_keys: new BadInput([
      {
        path: "issuer",
        message: "The issuer's keys cannot be read. It has no key for RS256 or ES256.",
      },
    ]),
    needs_owner_of_organization: Unauthorized.role("owner"),
    wider_trust: exceedingKey("all scopes"),
    trust_by_expiring_key: new Unauthorized(EXPIRING_KEY),
    trust_of_pending_membership: PENDING_MEMBER,
    creator_of_trust_revoked: CREATOR_CHANGED,
    trust_limit: new LimitReached(LIMITS.trusts.value, "trusts of an organization"),
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "deleteTrust",
  tags: ["Trusts"],
  summary: "Delete a trust",
  description:
    "Revokes the keys and runner tokens that it has issued, with everything that was created with them.",
  access: { scope: "keys:write", role: "admin" },
  resource: true,
  changes: ["trusts"],
  request: { params: TrustParams },
  responses: { 204: noContent },
  notFound: ["organization", "trust"],
});

const exchange = apiRoute({
  method: "post",
  path: "/v1/oidc/token",
  operationId: "exchangeToken",
  tags: ["Trusts"],
  summary: "Exchange the token of a CI job for a key",
  description:
    "Needs no key. The oldest trust that the token meets decides what is returned. The reply names what " +
    "is wrong with a token only after its signature is verified; an organization that does not exist " +
    "replies as one without such a trust.",
  access: "public",
  resource: true,
  request: { body: jsonBody(ExchangeToken) },
  responses: { 201: json(ExchangedKey, "The key. It is not shown again.") },
  errors: {
    malformed_token: new BadInput([{ path: "token", message: MALFORMED }]),
    ...Object.fromEntries(
      Object.entries(REFUSED).map(([name, message]) => [
        `token_${name.toLowerCase()}`,
        new Unauthenticated(message),
      ]),
    ),
    issuer_unavailable: issuerUnavailable("It does not answer in time"),
    live_key_limit: new LimitReached(LIMITS.liveKeysOfTrust.value, "live keys of a trust"),
  },
});

const API_KEY_PATH = "/v1/orgs/{org_id}/api-keys/{key_id}";
const RUNNER_TOKEN_PATH = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}";

export function createTrustRoutes({ fetch, clock }: RouteDeps) {
  // All requests of the isolate share the keys.
  const issuers = new IssuerKeys(fetch, clock);
  return createRouter()
    .openapi(list, (c) =>
      page(
        c,
        (ctx) =>
          listTrusts(ctx, c.req.valid("param").org_id, toNamedPageRequest(c.req.valid("query"))),
        presentTrust,
      ),
    )
    .openapi(create, (c) =>
      created(
        c,
        get.path,
        (ctx) => createTrust(ctx, c.req.valid("param").org_id, toInput(c.req.valid("json"))),
        presentTrust,
        { version: unchanging },
      ),
    )
    .openapi(get, (c) => {
      const params = c.req.valid("param");
      return ok(c, (ctx) => getTrust(ctx, params.org_id, params.trust_id), presentTrust, {
        version: unchanging,
      });
    })
    .openapi(remove, (c) => {
      const params = c.req.valid("param");
      return done(c, (ctx) => deleteTrust(ctx, params.org_id, params.trust_id));
    })
    .openapi(exchange, async (c) => {
      const { org_id, token } = c.req.valid("json");
      const exchanged = await exchangeToken({ ...c.var.ctx, issuers }, org_id, token);
      await locateCredential(c, exchanged);
      return c.json(presentExchanged(exchanged), 201);
    });
}

/** The ETag is that of a GET of the key or runner token. */
async function locateCredential(c: Context, exchanged: Exchanged) {
  const { id, organizationId: org_id, poolId: pool_id } = exchanged;
  if (pool_id === null) setLocation(c, { path: API_KEY_PATH }, { org_id, key_id: id });
  else setLocation(c, { path: RUNNER_TOKEN_PATH }, { org_id, pool_id, token_id: id });
  await tagged(c, 1, exchanged.presented);
}

function toInput(body: z.output<typeof CreateTrust>): TrustInput {
  return {
    name: body.name,
    issuer: body.issuer,
    audience: body.audience,
    conditions: body.conditions,
    membershipId: body.membership_id ?? null,
    poolId: body.pool_id ?? null,
    scopes: body.scopes ?? null,
    projectIds: body.project_ids ?? null,
    environmentIds: body.environment_ids ?? null,
    ttlSeconds: body.ttl_seconds,
  };
}
