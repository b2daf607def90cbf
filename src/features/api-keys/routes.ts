import type { z } from "@hono/zod-openapi";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { BadInput, Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { LAST_OWNER_KEY, PENDING_MEMBER } from "../memberships/index.ts";
import { presentApiKey, presentCreatedApiKey } from "./presenters.ts";
import { ApiKey, ApiKeyList, ApiKeyParams, CreateApiKey, CreatedApiKey } from "./schemas.ts";
import { createKey, getKey, listKeys, revokeKey } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "listApiKeys",
  tags: ["API keys"],
  summary: "List the API keys of an organization",
  role: "admin",
  notFound: ["organization"],
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: jsonReply(ApiKeyList, "A page of API keys.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "createApiKey",
  tags: ["API keys"],
  summary: "Create an API key",
  role: "admin",
  description:
    `The key may be for another membership, but its role cannot exceed that of the ` +
    "key that creates it.",
  notFound: ["organization", "membership"],
  errors: {
    key_expires_in_the_past: new BadInput([
      { path: "expires_at", message: "Send a time in the future." },
    ]),
    key_role_above_membership: new BadInput([
      { path: "role", message: "Send at most the membership's role, which is member." },
    ]),
    needs_owner_of_organization: Unauthorized.role("owner"),
    pending_member: new Conflict(PENDING_MEMBER),
    api_key_limit: new LimitReached(LIMITS.apiKeys.value, "api keys"),
    membership_key_limit: new LimitReached(
      LIMITS.apiKeysOfMembership.value,
      "API keys of a membership",
    ),
  },
  request: { params: OrganizationParams, body: jsonBody(CreateApiKey) },
  responses: { 201: jsonReply(CreatedApiKey, "The key. It is not shown again.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "getApiKey",
  tags: ["API keys"],
  summary: "Read an API key",
  role: "admin",
  description: `The response does not contain the key itself.`,
  notFound: ["organization", "API key"],
  request: { params: ApiKeyParams },
  responses: { 200: jsonReply(ApiKey, "The API key.") },
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "revokeApiKey",
  tags: ["API keys"],
  summary: "Revoke an API key",
  role: "admin",
  description:
    "The key's next request is refused. An organization keeps at least one key with the role `owner` " +
    "that belongs to an owner and does not expire.",
  notFound: ["organization", "API key"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    last_owner_key: new Conflict(LAST_OWNER_KEY),
  },
  request: { params: ApiKeyParams },
  responses: { 204: NO_CONTENT },
});

export const apiKeyRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listKeys(c.env, org_id, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentApiKey), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const created = await createKey(c.env, org_id, toNewKey(c.req.valid("json")));
    return c.json(presentCreatedApiKey(created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    return c.json(presentApiKey(await getKey(c.env, org_id, key_id)), 200);
  })
  .openapi(revoke, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    await revokeKey(c.env, org_id, key_id);
    return c.body(null, 204);
  });

function toNewKey(body: z.output<typeof CreateApiKey>) {
  return {
    name: body.name,
    membershipId: body.membership_id,
    role: body.role,
    expiresAt: body.expires_at ? Date.parse(body.expires_at) : undefined,
  };
}
