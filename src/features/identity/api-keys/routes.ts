import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Output } from "../../../lib/schemas.ts";
import type { Documented } from "./document.ts";
import { presentApiKey, presentKeyOrTombstone, presentSecretKey, versionOf } from "./presenters.ts";
import { rotateKey } from "./rotation.ts";
import {
  ApiKeyParams,
  CreateApiKey,
  KeyListQuery,
  RevokeQuery,
  RotateApiKey,
  UpdateApiKey,
} from "./schemas.ts";
import { createKey, getKey, listKeys, revokeKey } from "./service.ts";
import { updateKey } from "./update.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "listApiKeys",
  presentEach: presentKeyOrTombstone,
  scope: "keys:read",
  request: () => ({ params: OrganizationParams(), query: KeyListQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "getApiKey",
  resource: true,
  present: presentKeyOrTombstone,
  version: versionOf,
  scope: "keys:read",
  request: () => ({ params: ApiKeyParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "createApiKey",
  status: 201,
  resource: true,
  present: presentApiKey,
  presentSecrets: presentSecretKey,
  location: get,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateApiKey()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "updateApiKey",
  resource: true,
  present: presentApiKey,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), body: jsonBody(UpdateApiKey()) }),
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/rotate",
  operationId: "rotateApiKey",
  status: 201,
  resource: true,
  present: presentApiKey,
  presentSecrets: presentSecretKey,
  location: get,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), body: jsonBody(RotateApiKey()) }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "revokeApiKey",
  status: 204,
  resource: true,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), query: RevokeQuery() }),
});

export const apiKeyRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) => {
    const page = { ...toNamedPageRequest(query), status: query.status ?? "active" };
    return listKeys(ctx, params.org_id, page);
  })
  .handle(create, ({ ctx, params, body }) => createKey(ctx, params.org_id, toNewKey(body)))
  .handle(get, ({ ctx, params }) => getKey(ctx, params.org_id, params.key_id))
  .handle(update, ({ ctx, params, body }) =>
    updateKey(ctx, params.org_id, params.key_id, toUpdate(body)),
  )
  .handle(rotate, ({ ctx, params, body: { overlap_seconds: overlapSeconds = 0, expires_at } }) => {
    const input = { overlapSeconds, expiresAt: toTime(expires_at) };
    return rotateKey(ctx, params.org_id, params.key_id, input);
  })
  .handle(revoke, ({ ctx, params, query }) =>
    revokeKey(ctx, params.org_id, params.key_id, query.descendants),
  );

function toUpdate(body: Output<typeof UpdateApiKey>) {
  const { name, scopes, project_ids: projectIds, environment_ids: environmentIds } = body;
  return {
    name,
    narrowed: { scopes, projectIds, environmentIds, expiresAt: toTime(body.expires_at) },
  };
}

function toNewKey(body: Output<typeof CreateApiKey>) {
  return {
    name: body.name,
    membershipId: body.membership_id,
    role: body.role,
    expiresAt: toTime(body.expires_at),
    narrowing: {
      scopes: body.scopes,
      projectIds: body.project_ids,
      environmentIds: body.environment_ids,
    },
  };
}

function toTime(timestamp: string | null | undefined): number | undefined {
  return timestamp ? Date.parse(timestamp) : undefined;
}
