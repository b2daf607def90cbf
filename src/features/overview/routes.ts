import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Unauthorized } from "../../lib/errors.ts";
import { presentProject } from "../projects/index.ts";
import { presentEnvironmentOverview } from "./presenters.ts";
import { ProjectOverview } from "./schemas.ts";
import { getProjectOverview } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/overview",
  operationId: "getProjectOverview",
  tags: ["Projects"],
  summary: "Read a project with its environments and what is deployed there",
  role: "viewer",
  polled: true,
  scope: "projects:read",
  description:
    "Needs the scopes `environments:read` and `deployments:read`, too. The environments are pages of a " +
    "list, each with the deployment that is active in it and the last one that has ended.",
  policy: "polling",
  notFound: ["project"],
  errors: {
    lacks_environments: Unauthorized.scope("environments:read"),
    lacks_deployments: Unauthorized.scope("deployments:read"),
  },
  request: { params: ProjectParams(), query: ListQuery() },
  responses: { 200: jsonReply(ProjectOverview(), "The project, and a page of its environments.") },
});

export const overviewRoutes = createRouter().openapi(get, async (c) => {
  const page = toPageRequest(c.req.valid("query"));
  const { project_id } = c.req.valid("param");
  const { project, environments } = await getProjectOverview(c.env, project_id, page);
  const envelope = toEnvelope(environments, presentEnvironmentOverview);
  return c.json({ project: presentProject(project), ...envelope }, 200);
});
