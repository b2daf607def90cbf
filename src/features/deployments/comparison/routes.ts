import { operation } from "../../../http/operation.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentComparison } from "./presenters.ts";
import { ComparisonQuery } from "./schemas.ts";
import { compareEnvironments } from "./service.ts";

const compare = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/comparison",
  operationId: "compareEnvironments",
  present: presentComparison,
  scope: "environments:read",
  policy: "polling",
  request: () => ({ params: EnvironmentParams(), query: ComparisonQuery() }),
});

export const comparisonRoutes = createRouter<Documented>().handle(
  compare,
  ({ ctx, params, query }) => compareEnvironments(ctx, params.environment_id, query.with),
);
