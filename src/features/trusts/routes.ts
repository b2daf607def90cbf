import type { Context } from "hono";
import type { SystemContext } from "../../context.ts";
import { jsonBody } from "../../http/bodies.ts";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { readJsonBody } from "../../http/read-body.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { exchangeToken } from "./exchange-service.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { type Exchanged, TRUST_VERSION, type TrustInput } from "./model.ts";
import { presentExchanged, presentTrust } from "./presenters.ts";
import { CreateTrust, ExchangeToken, TrustParams } from "./schemas.ts";
import { createTrust, deleteTrust, getTrust, listTrusts } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "listTrusts",
  scope: "keys:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "createTrust",
  status: 201,
  record: true,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateTrust()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "getTrust",
  record: true,
  scope: "keys:read",
  request: () => ({ params: TrustParams() }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "deleteTrust",
  status: 204,
  record: true,
  scope: "keys:write",
  request: () => ({ params: TrustParams() }),
});

const exchange = operation({
  method: "post",
  path: "/v1/oidc/token",
  operationId: "exchangeToken",
  status: 201,
  record: true,
  credentials: [],
  middleware: [readJsonBody({ isRequired: true })],
  request: () => ({ body: jsonBody(ExchangeToken()) }),
});

const API_KEY_PATH = "/v1/orgs/{org_id}/api-keys/{key_id}";
const RUNNER_TOKEN_PATH = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}";

export const trustRoutes = createRouter<Documented>()
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
  return createRouter<Documented, PublicEnv>().openapi(exchange, async (c) => {
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
