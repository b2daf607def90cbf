import { operation } from "../../../http/operation.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentUsage } from "./presenters.ts";
import { getUsage } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/usage",
  operationId: "getUsage",
  present: presentUsage,
  scope: "organization:read",
  request: () => ({ params: OrganizationParams() }),
});

export const usageRoutes = createRouter<Documented>().handle(get, ({ ctx, params }) =>
  getUsage(ctx, params.org_id),
);
