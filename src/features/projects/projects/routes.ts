import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Documented } from "./document.ts";
import { presentProject } from "./presenters.ts";
import { CreateProject, ReplaceProject, UpdateProject } from "./schemas.ts";
import {
  changeProject,
  createProject,
  deleteProject,
  getProject,
  listProjects,
} from "./service.ts";

const ProjectQuery = lazy(() => namedListQuery(LIMITS.nameLength.value));

const list = operation({
  method: "get",
  path: "/v1/projects",
  operationId: "listProjects",
  polled: true,
  presentEach: presentProject,
  scope: "projects:read",
  request: () => ({ query: ProjectQuery() }),
});

const listOfOrganization = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/projects",
  operationId: "listProjectsOfOrganization",
  presentEach: presentProject,
  scope: "projects:read",
  request: () => ({ params: OrganizationParams(), query: ProjectQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}",
  operationId: "getProject",
  resource: true,
  present: presentProject,
  scope: "projects:read",
  request: () => ({ params: ProjectParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/projects",
  operationId: "createProject",
  status: 201,
  resource: true,
  present: presentProject,
  location: get,
  scope: "projects:write",
  request: () => ({ body: jsonBody(CreateProject()) }),
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}",
  operationId: "replaceProject",
  resource: true,
  present: presentProject,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(ReplaceProject()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/projects/{project_id}",
  operationId: "updateProject",
  resource: true,
  present: presentProject,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(UpdateProject()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}",
  operationId: "deleteProject",
  status: 204,
  resource: true,
  scope: "projects:write",
  request: () => ({ params: ProjectParams() }),
});

export const projectRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, query }) =>
    listProjects(ctx, ctx.actor.organizationId, toNamedPageRequest(query)),
  )
  .handle(listOfOrganization, ({ ctx, params, query }) =>
    listProjects(ctx, params.org_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, body: { repo_id: repoId, ...rest } }) =>
    createProject(ctx, { ...rest, repoId }),
  )
  .handle(get, ({ ctx, params }) => getProject(ctx, params.project_id))
  .handle(replace, ({ ctx, params, body }) => {
    const { default_environment_id: defaultEnvironmentId, repo_id: repoId, ...rest } = body;
    return changeProject(ctx, params.project_id, { ...rest, repoId, defaultEnvironmentId });
  })
  .handle(update, ({ ctx, params, body }) => {
    const { default_environment_id: defaultEnvironmentId, repo_id: repoId, ...rest } = body;
    return changeProject(ctx, params.project_id, { ...rest, repoId, defaultEnvironmentId });
  })
  .handle(remove, ({ ctx, params }) => deleteProject(ctx, params.project_id));
