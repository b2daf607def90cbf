import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams, ProjectParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { presentProject } from "../projects/index.ts";
import { Project } from "../projects/schemas.ts";
import {
  DEPLOYMENT_RUNNING,
  ENVIRONMENT_IN_USE,
  IS_DEFAULT,
  NAME_TAKEN,
  NOT_ALL,
  STACK,
} from "./model.ts";
import { orderEnvironments } from "./order-service.ts";
import { presentEnvironment } from "./presenters.ts";
import {
  CreateEnvironment,
  Environment,
  EnvironmentList,
  EnvironmentOrder,
  ReplaceEnvironment,
  toChange,
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

const SETTINGS_CHECK =
  "A wrong setting of a built-in executor, and a need of a stack that the environment does not have, are `bad_input` in a " +
  "stack whose object changes. So are stacks that need each other in a cycle.";

const list = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/environments",
  operationId: "listEnvironments",
  tags: ["Environments"],
  summary: "List the environments of a project",
  access: { scope: "environments:read", role: "viewer" },
  polled: true,
  request: { params: ProjectParams, query: namedListQuery(LIMITS.slugLength.value) },
  responses: { 200: json(EnvironmentList, "A page of environments.") },
  notFound: ["project"],
});

const order = apiRoute({
  method: "put",
  path: "/v1/projects/{project_id}/environment-order",
  operationId: "orderEnvironments",
  tags: ["Environments"],
  summary: "Set the order of the environments of a project",
  description:
    "Name all of them, each once: otherwise it is a `conflict`. Those that are created later come last. `ETag` and " +
    "`If-Match` are of the project.",
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  request: { params: ProjectParams, body: jsonBody(EnvironmentOrder) },
  responses: { 200: json(Project, "The project.") },
  notFound: ["project", "environment in the project"],
  errors: { not_all_environments: NOT_ALL },
});

const get = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}",
  operationId: "getEnvironment",
  tags: ["Environments"],
  summary: "Read an environment",
  access: { scope: "environments:read", role: "viewer" },
  resource: true,
  request: { params: EnvironmentParams },
  responses: { 200: json(Environment, "The environment.") },
  notFound: ["environment"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/projects/{project_id}/environments",
  operationId: "createEnvironment",
  tags: ["Environments"],
  summary: "Create an environment",
  description: `A name that is taken in the project is a \`conflict\`. ${SETTINGS_CHECK}`,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  request: { params: ProjectParams, body: jsonBody(CreateEnvironment) },
  responses: { 201: json(Environment, "The environment.") },
  notFound: ["project"],
  errors: {
    environment_name_taken: NAME_TAKEN,
    environment_limit: new LimitReached(QUOTAS.environments, "environments"),
  },
});

const replace = apiRoute({
  method: "put",
  path: "/v1/environments/{environment_id}",
  operationId: "replaceEnvironment",
  tags: ["Environments"],
  summary: "Replace an environment",
  description:
    `A name that is taken in the project is a \`conflict\`, and so is ` +
    "another configuration while a deployment is `in_progress` or `canceling`. Queued deployments " +
    `are based on the new configuration when they start. ${SETTINGS_CHECK}`,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["configuration", "the environment and its name"],
  request: { params: EnvironmentParams, body: jsonBody(ReplaceEnvironment) },
  responses: { 200: json(Environment, "The environment.") },
  notFound: ["environment"],
  errors: {
    environment_name_taken: NAME_TAKEN,
    deployment_running: DEPLOYMENT_RUNNING,
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/environments/{environment_id}",
  operationId: "updateEnvironment",
  tags: ["Environments"],
  summary: "Change some fields of an environment",
  description:
    "A field that is absent stays as it is. To change the configuration, replace the environment or " +
    "create a deployment. A name that is taken in the project is a `conflict`.",
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["the environment and its name"],
  request: { params: EnvironmentParams, body: jsonBody(UpdateEnvironment) },
  responses: { 200: json(Environment, "The environment.") },
  notFound: ["environment", STACK],
  errors: {
    environment_name_taken: NAME_TAKEN,
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/environments/{environment_id}",
  operationId: "deleteEnvironment",
  tags: ["Environments"],
  summary: "Delete an environment",
  description:
    `Deletes its components, stacks and variables too. The default ` +
    "environment of a project cannot be deleted: this is a `conflict`.",
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["the environment and its name"],
  request: { params: EnvironmentParams },
  responses: { 204: noContent },
  notFound: ["environment"],
  errors: {
    default_environment: IS_DEFAULT,
    environment_in_use: ENVIRONMENT_IN_USE,
  },
});

export const environmentRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listEnvironments(
          ctx,
          c.req.valid("param").project_id,
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentEnvironment,
    ),
  )
  .openapi(create, (c) =>
    created(
      c,
      get.path,
      (ctx) => createEnvironment(ctx, c.req.valid("param").project_id, c.req.valid("json")),
      presentEnvironment,
    ),
  )
  .openapi(order, (c) =>
    ok(
      c,
      (ctx) =>
        orderEnvironments(
          ctx,
          c.req.valid("param").project_id,
          c.req.valid("json").environment_ids,
        ),
      presentProject,
    ),
  )
  .openapi(get, (c) =>
    ok(c, (ctx) => getEnvironment(ctx, c.req.valid("param").environment_id), presentEnvironment),
  )
  .openapi(replace, (c) =>
    ok(
      c,
      (ctx) => replaceEnvironment(ctx, c.req.valid("param").environment_id, c.req.valid("json")),
      presentEnvironment,
    ),
  )
  .openapi(update, (c) =>
    ok(
      c,
      (ctx) =>
        updateEnvironment(ctx, c.req.valid("param").environment_id, toChange(c.req.valid("json"))),
      presentEnvironment,
    ),
  )
  .openapi(remove, (c) =>
    done(c, (ctx) => deleteEnvironment(ctx, c.req.valid("param").environment_id)),
  );
