import { apiRoute } from "../../../http/api-route.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { presentEnvironmentInsights } from "./presenters.ts";
import { EnvironmentInsightsList, InsightsQuery } from "./schemas.ts";
import { listInsights } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/insights",
  operationId: "listInsights",
  tags: ["Projects"],
  summary: "List how the deployments of a project ended, by environment and day",
  description:
    "Needs the scope `environments:read`, too. Each deployment is counted once, on the day (UTC) on which it reaches its " +
    "final status. Durations are counted in 64 buckets, below one second and " +
    "three for each doubling: a percentile is the middle of its bucket, at most 26 % from the exact one above one second. " +
    "Days are kept as long as the changelog, normally 400 days.",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  request: { params: ProjectParams, query: InsightsQuery },
  responses: { 200: json(EnvironmentInsightsList, "A page of environments.") },
  notFound: ["project"],
  errors: { lacks_environments: Unauthorized.scope("environments:read") },
});

export const insightRoutes = createRouter().openapi(list, (c) => {
  const query = c.req.valid("query");
  return page(
    c,
    (ctx) => listInsights(ctx, c.req.valid("param").project_id, query.days, toPageRequest(query)),
    presentEnvironmentInsights,
  );
});
