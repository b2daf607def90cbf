import type { Context } from "hono";
import { jsonBody } from "../../http/bodies.ts";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentCreatedApiKey, presentKeyRecord, versionOf } from "./presenters.ts";
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
  scope: "keys:read",
  request: () => ({ params: OrganizationParams(), query: KeyListQuery() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "createApiKey",
  status: 201,
  record: true,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateApiKey()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "getApiKey",
  record: true,
  scope: "keys:read",
  request: () => ({ params: ApiKeyParams() }),
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "updateApiKey",
  record: true,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), body: jsonBody(UpdateApiKey()) }),
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/rotate",
  operationId: "rotateApiKey",
  status: 201,
  record: true,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), body: jsonBody(RotateApiKey()) }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "revokeApiKey",
  status: 204,
  record: true,
  scope: "keys:write",
  request: () => ({ params: ApiKeyParams(), query: RevokeQuery() }),
});

export const apiKeyRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const page = { ...toNamedPageRequest(query), status: query.status ?? "active" };
    return c.json(toEnvelope(await listKeys(c.env, org_id, page), presentKeyRecord), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const input = toNewKey(c.req.valid("json"));
    const created = await once(c.env, createKey, org_id, input);
    return c.json(await presentAndLocate(c, created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    return c.json(await tagKey(c, await getKey(c.env, org_id, key_id)), 200);
  })
  .openapi(update, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    const change = toUpdate(c.req.valid("json"));
    const key = await once(c.env, updateKey, org_id, key_id, change);
    return c.json(await tagKey(c, key), 200);
  })
  .openapi(rotate, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    const { overlap_seconds: overlapSeconds = 0, expires_at } = c.req.valid("json");
    const input = { overlapSeconds, expiresAt: toTime(expires_at) };
    const rotated = await once(c.env, rotateKey, org_id, key_id, input);
    return c.json(await presentAndLocate(c, rotated), 201);
  })
  .openapi(revoke, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    await revokeKey(c.env, org_id, key_id, c.req.valid("query").descendants);
    return c.body(null, 204);
  });

function tagKey(c: Context, row: Parameters<typeof presentKeyRecord>[0]) {
  return tagged(c, versionOf(row), presentKeyRecord(row));
}

async function presentAndLocate(c: Context, created: Parameters<typeof presentCreatedApiKey>[0]) {
  const { id, organizationId } = created.row;
  setLocation(c, get, { org_id: organizationId, key_id: id });
  await tagKey(c, created.row);
  return presentCreatedApiKey(created);
}

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
