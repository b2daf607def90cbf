import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { presentProject } from "../projects/index.ts";
import type { Documented } from "./document.ts";
import { presentEnvironmentOverview } from "./presenters.ts";
import { getProjectOverview } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/overview",
  operationId: "getProjectOverview",
  polled: true,
  scope: "projects:read",
  policy: "polling",
  request: () => ({ params: ProjectParams(), query: ListQuery() }),
});

export const overviewRoutes = createRouter<Documented>().openapi(get, async (c) => {
  const page = toPageRequest(c.req.valid("query"));
  const { project_id } = c.req.valid("param");
  const { project, environments } = await getProjectOverview(c.env, project_id, page);
  const envelope = toEnvelope(environments, presentEnvironmentOverview);
  return c.json({ project: presentProject(project), ...envelope }, 200);
});
