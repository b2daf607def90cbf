import { operation } from "../../http/operation.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentUsage } from "./presenters.ts";
import { getUsage } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/usage",
  operationId: "getUsage",
  scope: "organization:read",
  request: () => ({ params: OrganizationParams() }),
});

export const usageRoutes = createRouter<Documented>().openapi(get, async (c) => {
  const { org_id } = c.req.valid("param");
  return c.json(presentUsage(org_id, await getUsage(c.env, org_id), c.env.quotas), 200);
});
