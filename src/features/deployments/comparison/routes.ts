import { apiRoute } from "../../../http/api-route.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentComparison } from "./presenters.ts";
import { ComparisonQuery, EnvironmentComparison } from "./schemas.ts";
import { compareEnvironments } from "./service.ts";

const compare = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/comparison",
  operationId: "compareEnvironments",
  tags: ["Environments"],
  summary: "Compare an environment with another of its project",
  description:
    "What differs in the source, the configuration and the names of variables. It has no values of variables, " +
    "and does not say whether they are equal.",
  access: { scope: "environments:read", role: "viewer" },
  policy: "polling",
  request: { params: EnvironmentParams, query: ComparisonQuery },
  responses: { 200: json(EnvironmentComparison, "The differences.") },
  notFound: ["environment", "environment in the project"],
});

export const comparisonRoutes = createRouter().openapi(compare, (c) =>
  ok(
    c,
    (ctx) =>
      compareEnvironments(ctx, c.req.valid("param").environment_id, c.req.valid("query").with),
    presentComparison,
  ),
);
