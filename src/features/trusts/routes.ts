import type { Context } from "hono";
import type { SystemContext } from "../../context.ts";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter, type PublicEnv, readJsonBody } from "../../http/router.ts";
import {
  BadInput,
  Conflict,
  LimitReached,
  Unauthenticated,
  Unauthorized,
} from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { CREATOR_CHANGED, exceedingKey } from "../api-keys/index.ts";
import { once } from "../idempotency/index.ts";
import { PENDING_MEMBER } from "../memberships/index.ts";
import { exchangeToken } from "./exchange-service.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { type Exchanged, MALFORMED, TRUST_VERSION, type TrustInput } from "./model.ts";
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

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "listTrusts",
  tags: ["Trusts"],
  summary: "List the trusts of an organization",
  role: "admin",
  scope: "keys:read",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) },
  responses: { 200: jsonReply(TrustList(), "A page of trusts.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "createTrust",
  tags: ["Trusts"],
  summary: "Create a trust",
  role: "admin",
  record: true,
  scope: "keys:write",
  description:
    "Its keys cannot do more than the key that creates it: the rules are those of creating an API key. " +
    "The issuer must answer with its keys.",
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
    trust_of_pending_membership: new Conflict(PENDING_MEMBER),
    creator_of_trust_revoked: new Conflict(CREATOR_CHANGED),
    trust_limit: new LimitReached(LIMITS.trusts.value, "trusts of an organization"),
  },
  request: { params: OrganizationParams(), body: jsonBody(CreateTrust()) },
  responses: { 201: jsonReply(Trust(), "The trust.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "getTrust",
  tags: ["Trusts"],
  summary: "Read a trust",
  role: "admin",
  record: true,
  scope: "keys:read",
  notFound: ["organization", "trust"],
  request: { params: TrustParams() },
  responses: { 200: jsonReply(Trust(), "The trust.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "deleteTrust",
  tags: ["Trusts"],
  summary: "Delete a trust",
  role: "admin",
  record: true,
  scope: "keys:write",
  description:
    "Revokes the keys and runner tokens that it has issued, with everything that was created with them.",
  notFound: ["organization", "trust"],
  request: { params: TrustParams() },
  responses: { 204: NO_CONTENT },
});

const exchange = operation({
  method: "post",
  path: "/v1/oidc/token",
  operationId: "exchangeToken",
  tags: ["Trusts"],
  summary: "Exchange the token of a CI job for a key",
  record: true,
  description:
    "Needs no key. The oldest trust that the token meets decides what is returned. The reply names what " +
    "is wrong with a token only after its signature is verified; an organization that does not exist " +
    "replies as one without such a trust.",
  credentials: [],
  middleware: [readJsonBody(() => true)],
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
  request: { body: jsonBody(ExchangeToken()) },
  responses: { 201: jsonReply(ExchangedKey(), "The key. It is not shown again.") },
});

const API_KEY_PATH = "/v1/orgs/{org_id}/api-keys/{key_id}";
const RUNNER_TOKEN_PATH = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}";

export const trustRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listTrusts(c.env, org_id, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentTrust), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    const created = await once(c.env, createTrust, org_id, input);
    setLocation(c, get, { org_id, trust_id: created.id });
    return c.json(await tagTrust(c, created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, trust_id } = c.req.valid("param");
    return c.json(await tagTrust(c, await getTrust(c.env, org_id, trust_id)), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, trust_id } = c.req.valid("param");
    await deleteTrust(c.env, org_id, trust_id);
    return c.body(null, 204);
  });

export function exchangeRoutes(
  issuers: IssuerKeys,
  createContext: (env: Env, execution: Pick<ExecutionContext, "waitUntil">) => SystemContext,
) {
  return createRouter<PublicEnv>().openapi(exchange, async (c) => {
    const { org_id, token } = c.req.valid("json");
    const { origin } = c.env;
    const ctx = { ...createContext(c.env, c.executionCtx), origin, issuers };
    const exchanged = await exchangeToken(ctx, org_id, token);
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

function tagTrust(c: Context, row: Parameters<typeof presentTrust>[0]) {
  return tagged(c, TRUST_VERSION, presentTrust(row));
}

function toInput(body: Output<typeof CreateTrust>): TrustInput {
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
