import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Documented } from "./document.ts";
import { presentComponent } from "./presenters.ts";
import { ComponentInput, UpdateComponent } from "./schemas.ts";
import {
  changeComponent,
  createComponent,
  deleteComponent,
  getComponent,
  listComponents,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/components",
  operationId: "listComponents",
  presentEach: presentComponent,
  scope: "environments:read",
  request: () => ({ params: EnvironmentParams(), query: namedListQuery(LIMITS.slugLength.value) }),
});

const get = operation({
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  resource: true,
  present: presentComponent,
  scope: "environments:read",
  request: () => ({ params: ComponentParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/components",
  operationId: "createComponent",
  status: 201,
  resource: true,
  present: presentComponent,
  location: get,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ComponentInput()) }),
});

const replace = operation({
  method: "put",
  path: "/v1/components/{component_id}",
  operationId: "replaceComponent",
  resource: true,
  present: presentComponent,
  scope: "environments:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(ComponentInput()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/components/{component_id}",
  operationId: "updateComponent",
  resource: true,
  present: presentComponent,
  scope: "environments:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(UpdateComponent()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/components/{component_id}",
  operationId: "deleteComponent",
  status: 204,
  resource: true,
  scope: "environments:write",
  request: () => ({ params: ComponentParams() }),
});

export const componentRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listComponents(ctx, params.environment_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body }) => createComponent(ctx, params.environment_id, body))
  .handle(get, ({ ctx, params }) => getComponent(ctx, params.component_id))
  .handle(replace, ({ ctx, params, body }) => changeComponent(ctx, params.component_id, body))
  .handle(update, ({ ctx, params, body }) => changeComponent(ctx, params.component_id, body))
  .handle(remove, ({ ctx, params }) => deleteComponent(ctx, params.component_id));
