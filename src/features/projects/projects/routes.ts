import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NAME_TAKEN, PROJECT_IN_USE } from "./model.ts";
import { presentProject } from "./presenters.ts";
import { CreateProject, Project, ProjectList, ReplaceProject, UpdateProject } from "./schemas.ts";
import {
  changeProject,
  createProject,
  deleteProject,
  getProject,
  listProjects,
  ONLY_IN_PROJECTS,
} from "./service.ts";

const READABLE = "Returns the projects that you may read. An admin may read all of them.";

const ProjectQuery = namedListQuery(LIMITS.nameLength.value);

const list = apiRoute({
  method: "get",
  path: "/v1/projects",
  operationId: "listProjects",
  tags: ["Projects"],
  summary: "List the projects of your organization",
  description: READABLE,
  access: { scope: "projects:read" },
  polled: true,
  request: { query: ProjectQuery },
  responses: { 200: json(ProjectList, "A page of projects.") },
});

const listOfOrganization = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/projects",
  operationId: "listProjectsOfOrganization",
  tags: ["Projects"],
  summary: "List the projects of an organization",
  description: READABLE,
  access: { scope: "projects:read" },
  request: { params: OrganizationParams, query: ProjectQuery },
  responses: { 200: json(ProjectList, "A page of projects.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}",
  operationId: "getProject",
  tags: ["Projects"],
  summary: "Read a project",
  access: { scope: "projects:read", role: "viewer" },
  resource: true,
  request: { params: ProjectParams },
  responses: { 200: json(Project, "The project.") },
  notFound: ["project"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/projects",
  operationId: "createProject",
  tags: ["Projects"],
  summary: "Create a project",
  description:
    "You become its owner. A new project has one environment, `production`. Its name is unique in the organization.",
  access: { scope: "projects:write" },
  resource: true,
  request: { body: jsonBody(CreateProject) },
  responses: { 201: json(Project, "The project.") },
  notFound: ["project"],
  errors: {
    project_name_taken: NAME_TAKEN,
    key_of_projects: new Unauthorized(ONLY_IN_PROJECTS),
    project_limit: new LimitReached(QUOTAS.projects, "projects"),
  },
});

const replace = apiRoute({
  method: "put",
  path: "/v1/projects/{project_id}",
  operationId: "replaceProject",
  tags: ["Projects"],
  summary: "Replace a project",
  description: `Clears optional fields that the body leaves out, except the name.`,
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  request: { params: ProjectParams, body: jsonBody(ReplaceProject) },
  responses: { 200: json(Project, "The project.") },
  notFound: ["project", "environment in the project"],
  errors: {
    project_name_taken: NAME_TAKEN,
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/projects/{project_id}",
  operationId: "updateProject",
  tags: ["Projects"],
  summary: "Change some fields of a project",
  description:
    "A field that is absent stays as it is; `null` clears a description, an icon or a repository.",
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  request: { params: ProjectParams, body: jsonBody(UpdateProject) },
  responses: { 200: json(Project, "The project.") },
  notFound: ["project", "environment in the project"],
  errors: {
    project_name_taken: NAME_TAKEN,
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/projects/{project_id}",
  operationId: "deleteProject",
  tags: ["Projects"],
  summary: "Delete a project",
  description: `Deletes its environments and the roles of its members too.`,
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  changes: ["the project"],
  request: { params: ProjectParams },
  responses: { 204: noContent },
  notFound: ["project"],
  errors: {
    project_in_use: PROJECT_IN_USE,
  },
});

export const projectRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listProjects(ctx, ctx.actor.organizationId, toNamedPageRequest(c.req.valid("query"))),
      presentProject,
    ),
  )
  .openapi(listOfOrganization, (c) =>
    page(
      c,
      (ctx) =>
        listProjects(ctx, c.req.valid("param").org_id, toNamedPageRequest(c.req.valid("query"))),
      presentProject,
    ),
  )
  .openapi(create, (c) => {
    const { repo_id: repoId, ...rest } = c.req.valid("json");
    return created(c, get.path, (ctx) => createProject(ctx, { ...rest, repoId }), presentProject);
  })
  .openapi(get, (c) =>
    ok(c, (ctx) => getProject(ctx, c.req.valid("param").project_id), presentProject),
  )
  .openapi(replace, (c) => {
    const {
      default_environment_id: defaultEnvironmentId,
      repo_id: repoId,
      ...rest
    } = c.req.valid("json");
    return ok(
      c,
      (ctx) =>
        changeProject(ctx, c.req.valid("param").project_id, {
          ...rest,
          repoId,
          defaultEnvironmentId,
        }),
      presentProject,
    );
  })
  .openapi(update, (c) => {
    const {
      default_environment_id: defaultEnvironmentId,
      repo_id: repoId,
      ...rest
    } = c.req.valid("json");
    return ok(
      c,
      (ctx) =>
        changeProject(ctx, c.req.valid("param").project_id, {
          ...rest,
          repoId,
          defaultEnvironmentId,
        }),
      presentProject,
    );
  })
  .openapi(remove, (c) => done(c, (ctx) => deleteProject(ctx, c.req.valid("param").project_id)));
