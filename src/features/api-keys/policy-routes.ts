import type { Context } from "hono";
import { tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, Unauthorized } from "../../lib/errors.ts";
import { getKeyPolicy, POLICY_CHANGED, setKeyPolicy, type VersionedKeyPolicy } from "./policy.ts";
import { presentKeyPolicy } from "./presenters.ts";
import { ApiKeyPolicy, PutApiKeyPolicy } from "./schemas.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "getApiKeyPolicy",
  tags: ["API keys"],
  summary: "Read the rules for new API keys",
  role: "admin",
  record: true,
  scope: "keys:read",
  notFound: ["organization"],
  request: { params: OrganizationParams() },
  responses: { 200: jsonReply(ApiKeyPolicy(), "The rules.") },
});

const put = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "putApiKeyPolicy",
  tags: ["API keys"],
  summary: "Set the rules for new API keys",
  record: true,
  scope: "keys:write",
  description:
    "Needs the role `owner` in the organization. Applies to keys that are created or rotated from now " +
    "on. Existing keys keep their expiry, and so does the last owner's key when it is rotated.",
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    policy_changed: new Conflict(POLICY_CHANGED),
  },
  request: { params: OrganizationParams(), body: jsonBody(PutApiKeyPolicy()) },
  responses: { 200: jsonReply(ApiKeyPolicy(), "The rules.") },
});

export const apiKeyPolicyRoutes = createRouter()
  .openapi(get, async (c) => {
    const policy = await getKeyPolicy(c.env, c.req.valid("param").org_id);
    return c.json(await tagPolicy(c, policy), 200);
  })
  .openapi(put, async (c) => {
    const { max_age_seconds: maximumAgeSeconds } = c.req.valid("json");
    const policy = await setKeyPolicy(c.env, c.req.valid("param").org_id, { maximumAgeSeconds });
    return c.json(await tagPolicy(c, policy), 200);
  });

function tagPolicy(c: Context, policy: VersionedKeyPolicy) {
  return tagged(c, policy.recordVersion, presentKeyPolicy(policy));
}
