import { operation } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentEnvironmentInsights } from "./presenters.ts";
import { InsightsQuery } from "./schemas.ts";
import { listInsights } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/insights",
  operationId: "listInsights",
  presentEach: presentEnvironmentInsights,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ProjectParams(), query: InsightsQuery() }),
});

export const insightRoutes = createRouter<Documented>().handle(list, ({ ctx, params, query }) =>
  listInsights(ctx, params.project_id, query.days, toPageRequest(query)),
);
