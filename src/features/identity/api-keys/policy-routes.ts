import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { getKeyPolicy, setKeyPolicy } from "./policy.ts";
import { presentKeyPolicy } from "./presenters.ts";
import { PutApiKeyPolicy } from "./schemas.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "getApiKeyPolicy",
  resource: true,
  present: presentKeyPolicy,
  scope: "keys:read",
  request: () => ({ params: OrganizationParams() }),
});

const put = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/api-key-policy",
  operationId: "putApiKeyPolicy",
  resource: true,
  present: presentKeyPolicy,
  scope: "keys:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(PutApiKeyPolicy()) }),
});

export const apiKeyPolicyRoutes = createRouter<Documented>()
  .handle(get, ({ ctx, params }) => getKeyPolicy(ctx, params.org_id))
  .handle(put, ({ ctx, params, body }) =>
    setKeyPolicy(ctx, params.org_id, { maximumAgeSeconds: body.max_age_seconds }),
  );
