import { operation, unchanging } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { StackParams } from "../../projects/stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentResource } from "./presenters.ts";
import { ResourceOfEnvironmentParams, ResourceOfStackParams, ResourceParams } from "./schemas.ts";
import { getResource, listResourcesOfEnvironment, listResourcesOfStack } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/resources/{resource_id}",
  operationId: "getResource",
  resource: true,
  present: presentResource,
  version: unchanging,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceParams() }),
});

const getOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources/{resource_id}",
  operationId: "getStackResource",
  resource: true,
  present: presentResource,
  version: unchanging,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceOfStackParams() }),
});

const getOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/resources/{resource_id}",
  operationId: "getEnvironmentResource",
  resource: true,
  present: presentResource,
  version: unchanging,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceOfEnvironmentParams() }),
});

const listOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources",
  operationId: "listStackResources",
  polled: true,
  presentEach: presentResource,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: StackParams(), query: ListQuery() }),
});

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/resources",
  operationId: "listEnvironmentResources",
  polled: true,
  presentEach: presentResource,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: EnvironmentParams(), query: ListQuery() }),
});

export const resourceRoutes = createRouter<Documented>()
  .handle(get, ({ ctx, params }) => getResource(ctx, params.resource_id))
  .handle(getOfStack, ({ ctx, params }) =>
    getResource(ctx, params.resource_id, { kind: "stack", id: params.stack_id }),
  )
  .handle(getOfEnvironment, ({ ctx, params }) =>
    getResource(ctx, params.resource_id, { kind: "environment", id: params.environment_id }),
  )
  .handle(listOfStack, ({ ctx, params, query }) =>
    listResourcesOfStack(ctx, params.stack_id, toPageRequest(query)),
  )
  .handle(listOfEnvironment, ({ ctx, params, query }) =>
    listResourcesOfEnvironment(ctx, params.environment_id, toPageRequest(query)),
  );
