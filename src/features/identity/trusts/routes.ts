import type { Context } from "hono";
import type { SystemContext } from "../../../context.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { operation, unchanging } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { readJsonBody } from "../../../http/read-body.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Output } from "../../../lib/schemas.ts";
import type { Documented } from "./document.ts";
import { exchangeToken } from "./exchange-service.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import type { Exchanged, TrustInput } from "./model.ts";
import { presentExchanged, presentTrust } from "./presenters.ts";
import { CreateTrust, ExchangeToken, TrustParams } from "./schemas.ts";
import { createTrust, deleteTrust, getTrust, listTrusts } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "listTrusts",
  presentEach: presentTrust,
  scope: "keys:read",
  request: () => ({ params: OrganizationParams(), query: namedListQuery(LIMITS.nameLength.value) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "getTrust",
  resource: true,
  present: presentTrust,
  version: unchanging,
  scope: "keys:read",
  request: () => ({ params: TrustParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/trusts",
  operationId: "createTrust",
  status: 201,
  resource: true,
  present: presentTrust,
  version: unchanging,
  location: get,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateTrust()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/trusts/{trust_id}",
  operationId: "deleteTrust",
  status: 204,
  resource: true,
  scope: "keys:write",
  request: () => ({ params: TrustParams() }),
});

const exchange = operation({
  method: "post",
  path: "/v1/oidc/token",
  operationId: "exchangeToken",
  status: 201,
  resource: true,
  credentials: [],
  middleware: [readJsonBody({ isRequired: true })],
  request: () => ({ body: jsonBody(ExchangeToken()) }),
});

const API_KEY_PATH = "/v1/orgs/{org_id}/api-keys/{key_id}";
const RUNNER_TOKEN_PATH = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}";

export const trustRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listTrusts(ctx, params.org_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body }) => createTrust(ctx, params.org_id, toInput(body)))
  .handle(get, ({ ctx, params }) => getTrust(ctx, params.org_id, params.trust_id))
  .handle(remove, ({ ctx, params }) => deleteTrust(ctx, params.org_id, params.trust_id));

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
