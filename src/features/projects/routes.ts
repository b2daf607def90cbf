import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
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

const ProjectQuery = lazy(() => namedListQuery(LIMITS.nameLength.value));

const list = operation({
  method: "get",
  path: "/v1/projects",
  operationId: "listProjects",
  tags: ["Projects"],
  summary: "List the projects of your organization",
  polled: true,
  scope: "projects:read",
  description: READABLE,
  request: { query: ProjectQuery() },
  responses: { 200: jsonReply(ProjectList(), "A page of projects.") },
});

const listOfOrganization = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/projects",
  operationId: "listProjectsOfOrganization",
  tags: ["Projects"],
  summary: "List the projects of an organization",
  scope: "projects:read",
  description: READABLE,
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: ProjectQuery() },
  responses: { 200: jsonReply(ProjectList(), "A page of projects.") },
});

const create = operation({
  method: "post",
  path: "/v1/projects",
  operationId: "createProject",
  tags: ["Projects"],
  summary: "Create a project",
  record: true,
  scope: "projects:write",
  description: "You become its owner. A new project has one environment, `production`.",
  // For a repeat with an `Idempotency-Key`.
  notFound: ["project"],
  errors: {
    key_of_projects: new Unauthorized(ONLY_IN_PROJECTS),
    project_limit: new LimitReached(LIMITS.projects.value, "projects"),
  },
  request: { body: jsonBody(CreateProject()) },
  responses: { 201: jsonReply(Project(), "The project.") },
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}",
  operationId: "getProject",
  tags: ["Projects"],
  summary: "Read a project",
  role: "viewer",
  record: true,
  scope: "projects:read",
  notFound: ["project"],
  request: { params: ProjectParams() },
  responses: { 200: jsonReply(Project(), "The project.") },
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}",
  operationId: "replaceProject",
  tags: ["Projects"],
  summary: "Replace a project",
  role: "owner",
  record: true,
  scope: "projects:write",
  description: `Clears optional fields that the body leaves out, except the name.`,
  notFound: ["project", "environment in the project"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: ProjectParams(), body: jsonBody(ReplaceProject()) },
  responses: { 200: jsonReply(Project(), "The project.") },
});

const update = operation({
  method: "patch",
  path: "/v1/projects/{project_id}",
  operationId: "updateProject",
  tags: ["Projects"],
  summary: "Change some fields of a project",
  role: "owner",
  record: true,
  scope: "projects:write",
  description:
    "A field that is absent stays as it is; `null` clears a description, an icon or a repository.",
  notFound: ["project", "environment in the project"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: ProjectParams(), body: jsonBody(UpdateProject()) },
  responses: { 200: jsonReply(Project(), "The project.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}",
  operationId: "deleteProject",
  tags: ["Projects"],
  summary: "Delete a project",
  role: "owner",
  record: true,
  scope: "projects:write",
  description: `Deletes its environments and the roles of its members too.`,
  notFound: ["project"],
  errors: {
    project_in_use: new Conflict("The project has an unfinished deployment. Cancel it first."),
  },
  request: { params: ProjectParams() },
  responses: { 204: NO_CONTENT },
});

export const projectRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const projects = await listProjects(c.env, c.env.actor.organizationId, page);
    return c.json(toEnvelope(projects, presentProject), 200);
  })
  .openapi(listOfOrganization, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const projects = await listProjects(c.env, c.req.valid("param").org_id, page);
    return c.json(toEnvelope(projects, presentProject), 200);
  })
  .openapi(create, async (c) => {
    const { repo_id, ...rest } = c.req.valid("json");
    const input = { ...rest, repoId: repo_id };
    const project = await once(c.env, createProject, input);
    setLocation(c, get, { project_id: project.id });
    return c.json(await tagged(c, project.recordVersion, presentProject(project)), 201);
  })
  .openapi(get, async (c) => {
    const project = await getProject(c.env, c.req.valid("param").project_id);
    return c.json(await tagged(c, project.recordVersion, presentProject(project)), 200);
  })
  .openapi(replace, async (c) => {
    const { default_environment_id, repo_id, ...rest } = c.req.valid("json");
    const project = await changeProject(c.env, c.req.valid("param").project_id, {
      ...rest,
      name: rest.name,
      repoId: repo_id,
      defaultEnvironmentId: default_environment_id,
    });
    return c.json(await tagged(c, project.recordVersion, presentProject(project)), 200);
  })
  .openapi(update, async (c) => {
    const { default_environment_id: defaultEnvironmentId, repo_id, ...rest } = c.req.valid("json");
    const change = { ...rest, repoId: repo_id, defaultEnvironmentId };
    const { project_id } = c.req.valid("param");
    const project = await once(c.env, changeProject, project_id, change);
    return c.json(await tagged(c, project.recordVersion, presentProject(project)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteProject(c.env, c.req.valid("param").project_id);
    return c.body(null, 204);
  });
