import { apiRoute } from "../../../http/api-route.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentUsage } from "./presenters.ts";
import { Usage } from "./schemas.ts";
import { getUsage } from "./service.ts";

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/usage",
  operationId: "getUsage",
  tags: ["Organizations"],
  summary: "Read what an organization stores",
  description:
    `A request that would exceed a quota is a \`conflict\` that names it. Reading, ` +
    "deleting, canceling and requests of runners are never refused because of a quota, except for " +
    "a new alarm.",
  access: { scope: "organization:read", role: "admin" },
  request: { params: OrganizationParams },
  responses: { 200: json(Usage, "The usage.") },
  notFound: ["organization"],
});

export const usageRoutes = createRouter().openapi(get, (c) =>
  ok(c, (ctx) => getUsage(ctx, c.req.valid("param").org_id), presentUsage),
);
