import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentProtection } from "./presenters.ts";
import { ReplaceProtection } from "./schemas.ts";
import { getProtection, replaceProtection } from "./service.ts";

const PATH = "/v1/environments/{environment_id}/protection";

const get = operation({
  method: "get",
  path: PATH,
  operationId: "getProtection",
  resource: true,
  present: presentProtection,
  scope: "environments:read",
  request: () => ({ params: EnvironmentParams() }),
});

const replace = operation({
  method: "put",
  path: PATH,
  operationId: "replaceProtection",
  resource: true,
  present: presentProtection,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ReplaceProtection()) }),
});

export const protectionRoutes = createRouter<Documented>()
  .handle(get, ({ ctx, params }) => getProtection(ctx, params.environment_id))
  .handle(replace, ({ ctx, params, body }) => replaceProtection(ctx, params.environment_id, body));
