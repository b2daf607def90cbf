import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { presentProject } from "../../projects/projects/index.ts";
import type { Documented } from "./document.ts";
import { presentEnvironmentOverview } from "./presenters.ts";
import { getProjectOverview } from "./service.ts";

function presentOverview({
  project,
  environments,
}: Awaited<ReturnType<typeof getProjectOverview>>) {
  return {
    project: presentProject(project),
    ...toEnvelope(environments, presentEnvironmentOverview),
  };
}

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/overview",
  operationId: "getProjectOverview",
  polled: true,
  present: presentOverview,
  scope: "projects:read",
  policy: "polling",
  request: () => ({ params: ProjectParams(), query: ListQuery() }),
});

export const overviewRoutes = createRouter<Documented>().handle(get, ({ ctx, params, query }) =>
  getProjectOverview(ctx, params.project_id, toPageRequest(query)),
);
