import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { presentProject } from "./presenters.ts";
import { CreateProject, Project, ProjectList, ReplaceProject } from "./schemas.ts";
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  ONLY_IN_PROJECTS,
  replaceProject,
} from "./service.ts";

const READABLE = "Returns the projects that you may read. An admin may read all of them.";

const list = operation({
  method: "get",
  path: "/v1/projects",
  operationId: "listProjects",
  tags: ["Projects"],
  summary: "List the projects of your organization",
  scope: "projects:read",
  description: READABLE,
  request: { query: ListQuery },
  responses: { 200: jsonReply(ProjectList, "A page of projects.") },
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
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: jsonReply(ProjectList, "A page of projects.") },
});

const create = operation({
  method: "post",
  path: "/v1/projects",
  operationId: "createProject",
  tags: ["Projects"],
  summary: "Create a project",
  scope: "projects:write",
  description: "You become its owner. A new project has one environment, `production`.",
  errors: {
    key_of_projects: new Unauthorized(ONLY_IN_PROJECTS),
    project_limit: new LimitReached(LIMITS.projects.value, "projects"),
  },
  request: { body: jsonBody(CreateProject) },
  responses: { 201: jsonReply(Project, "The project.") },
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}",
  operationId: "getProject",
  tags: ["Projects"],
  summary: "Read a project",
  role: "viewer",
  scope: "projects:read",
  notFound: ["project"],
  request: { params: ProjectParams },
  responses: { 200: jsonReply(Project, "The project.") },
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}",
  operationId: "replaceProject",
  tags: ["Projects"],
  summary: "Replace a project",
  role: "owner",
  scope: "projects:write",
  description: `Clears optional fields that the body leaves out, except the name.`,
  notFound: ["project", "environment in the project"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: ProjectParams, body: jsonBody(ReplaceProject) },
  responses: { 200: jsonReply(Project, "The project.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}",
  operationId: "deleteProject",
  tags: ["Projects"],
  summary: "Delete a project",
  role: "owner",
  scope: "projects:write",
  description: `Deletes its environments and the roles of its members too.`,
  notFound: ["project"],
  errors: {
    project_in_use: new Conflict("The project has an unfinished deployment. Cancel it first."),
  },
  request: { params: ProjectParams },
  responses: { 204: NO_CONTENT },
});

export const projectRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = toPageRequest(c.req.valid("query"));
    const projects = await listProjects(c.env, c.env.actor.organizationId, page);
    return c.json(toEnvelope(projects, presentProject), 200);
  })
  .openapi(listOfOrganization, async (c) => {
    const page = toPageRequest(c.req.valid("query"));
    const projects = await listProjects(c.env, c.req.valid("param").org_id, page);
    return c.json(toEnvelope(projects, presentProject), 200);
  })
  .openapi(create, async (c) => {
    const { repo_id, ...rest } = c.req.valid("json");
    const project = await createProject(c.env, { ...rest, repoId: repo_id });
    return c.json(presentProject(project), 201);
  })
  .openapi(get, async (c) => {
    const project = await getProject(c.env, c.req.valid("param").project_id);
    return c.json(presentProject(project), 200);
  })
  .openapi(replace, async (c) => {
    const { default_environment_id, repo_id, ...rest } = c.req.valid("json");
    const project = await replaceProject(c.env, c.req.valid("param").project_id, {
      ...rest,
      name: rest.name,
      repoId: repo_id,
      defaultEnvironmentId: default_environment_id,
    });
    return c.json(presentProject(project), 200);
  })
  .openapi(remove, async (c) => {
    await deleteProject(c.env, c.req.valid("param").project_id);
    return c.body(null, 204);
  });
