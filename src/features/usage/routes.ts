import { createRoute } from "@hono/zod-openapi";
import { OrganizationParams } from "../../http/params.ts";
import { API_KEY, ERROR_REPLIES, jsonReply, NEEDS } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentUsage } from "./presenters.ts";
import { Usage } from "./schemas.ts";
import { getUsage } from "./service.ts";

const get = createRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/usage",
  operationId: "getUsage",
  tags: ["Organizations"],
  summary: "Read the usage of an organization",
  description:
    `${NEEDS.admin} A request that would exceed a quota is a \`conflict\` that names the quota. ` +
    "Quotas never apply to reads, deletions, cancellations and the requests of runners.",
  security: API_KEY,
  request: { params: OrganizationParams },
  responses: { 200: jsonReply(Usage, "The usage."), ...ERROR_REPLIES },
});

export const usageRoutes = createRouter().openapi(get, async (c) => {
  const { org_id } = c.req.valid("param");
  return c.json(presentUsage(org_id, await getUsage(c.env, org_id)), 200);
});
