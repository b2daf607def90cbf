import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams, ProjectParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
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
  scope: "projects:read",
  request: () => ({ query: ProjectQuery() }),
});

const listOfOrganization = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/projects",
  operationId: "listProjectsOfOrganization",
  scope: "projects:read",
  request: () => ({ params: OrganizationParams(), query: ProjectQuery() }),
});

const create = operation({
  method: "post",
  path: "/v1/projects",
  operationId: "createProject",
  status: 201,
  record: true,
  scope: "projects:write",
  request: () => ({ body: jsonBody(CreateProject()) }),
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}",
  operationId: "getProject",
  record: true,
  scope: "projects:read",
  request: () => ({ params: ProjectParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}",
  operationId: "replaceProject",
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(ReplaceProject()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/projects/{project_id}",
  operationId: "updateProject",
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(UpdateProject()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}",
  operationId: "deleteProject",
  status: 204,
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectParams() }),
});

export const projectRoutes = createRouter<Documented>()
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
    return jsonWithTag(c, project.recordVersion, presentProject(project), 201);
  })
  .openapi(get, async (c) => {
    const project = await getProject(c.env, c.req.valid("param").project_id);
    return jsonWithTag(c, project.recordVersion, presentProject(project), 200);
  })
  .openapi(replace, async (c) => {
    const { default_environment_id, repo_id, ...rest } = c.req.valid("json");
    const project = await changeProject(c.env, c.req.valid("param").project_id, {
      ...rest,
      name: rest.name,
      repoId: repo_id,
      defaultEnvironmentId: default_environment_id,
    });
    return jsonWithTag(c, project.recordVersion, presentProject(project), 200);
  })
  .openapi(update, async (c) => {
    const { default_environment_id: defaultEnvironmentId, repo_id, ...rest } = c.req.valid("json");
    const change = { ...rest, repoId: repo_id, defaultEnvironmentId };
    const { project_id } = c.req.valid("param");
    const project = await once(c.env, changeProject, project_id, change);
    return jsonWithTag(c, project.recordVersion, presentProject(project), 200);
  })
  .openapi(remove, async (c) => {
    await deleteProject(c.env, c.req.valid("param").project_id);
    return c.body(null, 204);
  });
