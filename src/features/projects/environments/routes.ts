import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams, ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { presentProject } from "../projects/index.ts";
import type { Documented } from "./document.ts";
import { orderEnvironments } from "./order-service.ts";
import { presentEnvironment } from "./presenters.ts";
import {
  CreateEnvironment,
  EnvironmentOrder,
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
  polled: true,
  presentEach: presentEnvironment,
  scope: "environments:read",
  request: () => ({ params: ProjectParams(), query: namedListQuery(LIMITS.slugLength.value) }),
});

const order = operation({
  method: "put",
  path: "/v1/projects/{project_id}/environment-order",
  operationId: "orderEnvironments",
  resource: true,
  present: presentProject,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(EnvironmentOrder()) }),
});

const get = operation({
  method: "get",
  path: "/v1/environments/{environment_id}",
  operationId: "getEnvironment",
  resource: true,
  present: presentEnvironment,
  scope: "environments:read",
  request: () => ({ params: EnvironmentParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/projects/{project_id}/environments",
  operationId: "createEnvironment",
  status: 201,
  resource: true,
  present: presentEnvironment,
  location: get,
  scope: "environments:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(CreateEnvironment()) }),
});

const replace = operation({
  method: "put",
  path: "/v1/environments/{environment_id}",
  operationId: "replaceEnvironment",
  resource: true,
  present: presentEnvironment,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ReplaceEnvironment()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/environments/{environment_id}",
  operationId: "updateEnvironment",
  resource: true,
  present: presentEnvironment,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(UpdateEnvironment()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/environments/{environment_id}",
  operationId: "deleteEnvironment",
  status: 204,
  resource: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams() }),
});

export const environmentRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listEnvironments(ctx, params.project_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body }) => createEnvironment(ctx, params.project_id, body))
  .handle(order, ({ ctx, params, body }) =>
    orderEnvironments(ctx, params.project_id, body.environment_ids),
  )
  .handle(get, ({ ctx, params }) => getEnvironment(ctx, params.environment_id))
  .handle(replace, ({ ctx, params, body }) => replaceEnvironment(ctx, params.environment_id, body))
  .handle(update, ({ ctx, params, body }) => updateEnvironment(ctx, params.environment_id, body))
  .handle(remove, ({ ctx, params }) => deleteEnvironment(ctx, params.environment_id));
