import type { Context } from "hono";
import { jsonBody } from "../../http/bodies.ts";
import { tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import type { Documented } from "./document.ts";
import { getKeyPolicy, setKeyPolicy, type VersionedKeyPolicy } from "./policy.ts";
import { presentKeyPolicy } from "./presenters.ts";
import { PutApiKeyPolicy } from "./schemas.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "getApiKeyPolicy",
  record: true,
  scope: "keys:read",
  request: () => ({ params: OrganizationParams() }),
});

const put = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "putApiKeyPolicy",
  record: true,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(PutApiKeyPolicy()) }),
});

export const apiKeyPolicyRoutes = createRouter<Documented>()
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
