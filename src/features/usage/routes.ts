import { operation } from "../../http/operation.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentUsage } from "./presenters.ts";
import { Usage } from "./schemas.ts";
import { getUsage } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/usage",
  operationId: "getUsage",
  tags: ["Organizations"],
  summary: "Read what an organization stores",
  role: "admin",
  scope: "organization:read",
  description:
    `A request that would exceed a quota is a \`conflict\` that names it. Reading, ` +
    "deleting, canceling and requests of runners are never refused because of a quota.",
  notFound: ["organization"],
  request: { params: OrganizationParams() },
  responses: { 200: jsonReply(Usage(), "The usage.") },
});

export const usageRoutes = createRouter().openapi(get, async (c) => {
  const { org_id } = c.req.valid("param");
  return c.json(presentUsage(org_id, await getUsage(c.env, org_id), c.env.quotas), 200);
});
