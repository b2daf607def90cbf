import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Documented } from "./document.ts";
import { presentStack } from "./presenters.ts";
import { StackInput, StackParams, UpdateStack } from "./schemas.ts";
import { changeStack, createStack, deleteStack, getStack, listStacks } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "listStacks",
  presentEach: presentStack,
  scope: "environments:read",
  request: () => ({
    params: EnvironmentParams(),
    query: namedListQuery(LIMITS.stackNameLength.value),
  }),
});

const get = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}",
  operationId: "getStack",
  resource: true,
  present: presentStack,
  scope: "environments:read",
  request: () => ({ params: StackParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "createStack",
  status: 201,
  resource: true,
  present: presentStack,
  location: get,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(StackInput()) }),
});

const replace = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}",
  operationId: "replaceStack",
  resource: true,
  present: presentStack,
  scope: "environments:write",
  request: () => ({ params: StackParams(), body: jsonBody(StackInput()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/stacks/{stack_id}",
  operationId: "updateStack",
  resource: true,
  present: presentStack,
  scope: "environments:write",
  request: () => ({ params: StackParams(), body: jsonBody(UpdateStack()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/stacks/{stack_id}",
  operationId: "deleteStack",
  status: 204,
  resource: true,
  scope: "environments:write",
  request: () => ({ params: StackParams() }),
});

export const stackRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listStacks(ctx, params.environment_id, toNamedPageRequest(query)),
  )
  .handle(create, ({ ctx, params, body: { name, component_id: componentId } }) =>
    createStack(ctx, params.environment_id, { name, componentId }),
  )
  .handle(get, ({ ctx, params }) => getStack(ctx, params.stack_id))
  .handle(replace, ({ ctx, params, body: { name, component_id: componentId } }) =>
    changeStack(ctx, params.stack_id, { name, componentId }),
  )
  .handle(update, ({ ctx, params, body: { name, component_id: componentId } }) =>
    changeStack(ctx, params.stack_id, { name, componentId }),
  )
  .handle(remove, ({ ctx, params }) => deleteStack(ctx, params.stack_id));
