import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { POLICY_CHANGED } from "./model.ts";
import { getKeyPolicy, setKeyPolicy } from "./policy.ts";
import { presentKeyPolicy } from "./presenters.ts";
import { ApiKeyPolicy, PutApiKeyPolicy } from "./schemas.ts";

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "getApiKeyPolicy",
  tags: ["API keys"],
  summary: "Read the rules for new API keys",
  access: { scope: "keys:read", role: "admin" },
  resource: true,
  request: { params: OrganizationParams },
  responses: { 200: json(ApiKeyPolicy, "The rules.") },
  notFound: ["organization"],
});

const put = apiRoute({
  method: "put",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "putApiKeyPolicy",
  tags: ["API keys"],
  summary: "Set the rules for new API keys",
  description:
    "Needs the role `owner` in the organization. Applies to keys that are created or rotated from now " +
    "on. Existing keys keep their expiry, and so does the last owner's key when it is rotated.",
  access: { scope: "keys:write" },
  resource: true,
  request: { params: OrganizationParams, body: jsonBody(PutApiKeyPolicy) },
  responses: { 200: json(ApiKeyPolicy, "The rules.") },
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    policy_changed: POLICY_CHANGED,
  },
});

export const apiKeyPolicyRoutes = createRouter()
  .openapi(get, (c) =>
    ok(c, (ctx) => getKeyPolicy(ctx, c.req.valid("param").org_id), presentKeyPolicy),
  )
  .openapi(put, (c) =>
    ok(
      c,
      (ctx) =>
        setKeyPolicy(ctx, c.req.valid("param").org_id, {
          maximumAgeSeconds: c.req.valid("json").max_age_seconds,
        }),
      presentKeyPolicy,
    ),
  );
