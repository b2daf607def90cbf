import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams, ProjectParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { presentEnvironment } from "./presenters.ts";
import {
  CreateEnvironment,
  Environment,
  EnvironmentList,
  ReplaceEnvironment,
  UpdateEnvironment,
} from "./schemas.ts";
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  replaceEnvironment,
  updateEnvironment,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/environments",
  operationId: "listEnvironments",
  tags: ["Environments"],
  summary: "List the environments of a project",
  role: "viewer",
  polled: true,
  scope: "environments:read",
  notFound: ["project"],
  request: { params: ProjectParams(), query: namedListQuery(LIMITS.slugLength.value) },
  responses: { 200: jsonReply(EnvironmentList(), "A page of environments.") },
});

const create = operation({
  method: "post",
  path: "/v1/projects/{project_id}/environments",
  operationId: "createEnvironment",
  tags: ["Environments"],
  summary: "Create an environment",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `A name that is taken in the project is a \`conflict\`.`,
  notFound: ["project"],
  errors: {
    environment_name_taken: new Conflict(
      "The project already has an environment with this name. Choose another name.",
    ),
    environment_limit: new LimitReached(LIMITS.environments.value, "environments"),
  },
  request: { params: ProjectParams(), body: jsonBody(CreateEnvironment()) },
  responses: { 201: jsonReply(Environment(), "The environment.") },
});

const get = operation({
  method: "get",
  path: "/v1/environments/{environment_id}",
  operationId: "getEnvironment",
  tags: ["Environments"],
  summary: "Read an environment",
  role: "viewer",
  record: true,
  scope: "environments:read",
  notFound: ["environment"],
  request: { params: EnvironmentParams() },
  responses: { 200: jsonReply(Environment(), "The environment.") },
});

const replace = operation({
  method: "put",
  path: "/v1/environments/{environment_id}",
  operationId: "replaceEnvironment",
  tags: ["Environments"],
  summary: "Replace an environment",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    `A name that is taken in the project is a \`conflict\`, and so is ` +
    "another configuration while a deployment is `in_progress` or `canceling`. Queued deployments " +
    "are based on the new configuration when they start.",
  notFound: ["environment"],
  errors: {
    environment_name_taken: new Conflict(
      "The project already has an environment with this name. Choose another name.",
    ),
    deployment_running: new Conflict(
      "A deployment of the environment is running. Change the configuration after it has ended.",
    ),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: EnvironmentParams(), body: jsonBody(ReplaceEnvironment()) },
  responses: { 200: jsonReply(Environment(), "The environment.") },
});

const update = operation({
  method: "patch",
  path: "/v1/environments/{environment_id}",
  operationId: "updateEnvironment",
  tags: ["Environments"],
  summary: "Rename an environment",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    "A field that is absent stays as it is. To change the configuration, replace the environment or " +
    "create a deployment. A name that is taken in the project is a `conflict`.",
  notFound: ["environment"],
  errors: {
    environment_name_taken: new Conflict(
      "The project already has an environment with this name. Choose another name.",
    ),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: EnvironmentParams(), body: jsonBody(UpdateEnvironment()) },
  responses: { 200: jsonReply(Environment(), "The environment.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/environments/{environment_id}",
  operationId: "deleteEnvironment",
  tags: ["Environments"],
  summary: "Delete an environment",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    `Deletes its components, stacks and variables too. The default ` +
    "environment of a project cannot be deleted: this is a `conflict`.",
  notFound: ["environment"],
  errors: {
    default_environment: new Conflict(
      "This is the project's default environment. Make another the default first.",
    ),
    environment_in_use: new Conflict(
      "The environment has an unfinished deployment. Cancel it first.",
    ),
  },
  request: { params: EnvironmentParams() },
  responses: { 204: NO_CONTENT },
});

export const environmentRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const environments = await listEnvironments(c.env, c.req.valid("param").project_id, page);
    return c.json(toEnvelope(environments, presentEnvironment), 200);
  })
  .openapi(create, async (c) => {
    const { project_id } = c.req.valid("param");
    const input = c.req.valid("json");
    const environment = await once(c.env, createEnvironment, project_id, input);
    setLocation(c, get, { environment_id: environment.id });
    return c.json(await tagged(c, environment.recordVersion, presentEnvironment(environment)), 201);
  })
  .openapi(get, async (c) => {
    const environment = await getEnvironment(c.env, c.req.valid("param").environment_id);
    return c.json(await tagged(c, environment.recordVersion, presentEnvironment(environment)), 200);
  })
  .openapi(replace, async (c) => {
    const { environment_id } = c.req.valid("param");
    const environment = await replaceEnvironment(c.env, environment_id, c.req.valid("json"));
    return c.json(await tagged(c, environment.recordVersion, presentEnvironment(environment)), 200);
  })
  .openapi(update, async (c) => {
    const { environment_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const environment = await once(c.env, updateEnvironment, environment_id, change);
    return c.json(await tagged(c, environment.recordVersion, presentEnvironment(environment)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteEnvironment(c.env, c.req.valid("param").environment_id);
    return c.body(null, 204);
  });
