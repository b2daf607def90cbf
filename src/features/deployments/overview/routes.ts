import { apiRoute } from "../../../http/api-route.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { presentProject } from "../../projects/projects/index.ts";
import { presentEnvironmentOverview } from "./presenters.ts";
import { ProjectOverview } from "./schemas.ts";
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

const get = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/overview",
  operationId: "getProjectOverview",
  tags: ["Projects"],
  summary: "Read a project with its environments, what runs there, and what waits",
  description:
    "Needs the scopes `environments:read` and `deployments:read`, too. The environments are pages of a " +
    "list, each with what runs in it and since when, its health, and its queued and last deployments. Clients show them " +
    "by `position`; those without one last, the oldest first.",
  access: { scope: "projects:read", role: "viewer" },
  policy: "polling",
  polled: true,
  request: { params: ProjectParams, query: ListQuery },
  responses: {
    200: json(ProjectOverview, "The project, and a page of its environments."),
  },
  notFound: ["project"],
  errors: {
    lacks_environments: Unauthorized.scope("environments:read"),
    lacks_deployments: Unauthorized.scope("deployments:read"),
  },
});

export const overviewRoutes = createRouter().openapi(get, (c) =>
  ok(
    c,
    (ctx) =>
      getProjectOverview(ctx, c.req.valid("param").project_id, toPageRequest(c.req.valid("query"))),
    presentOverview,
  ),
);
