import { apiRoute } from "../../../http/api-route.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { json, ok, page, unchanging } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { StackParams } from "../../projects/stacks/schemas.ts";
import { presentResource } from "./presenters.ts";
import {
  Resource,
  ResourceList,
  ResourceOfEnvironmentParams,
  ResourceOfStackParams,
  ResourceParams,
} from "./schemas.ts";
import { getResource, listResourcesOfEnvironment, listResourcesOfStack } from "./service.ts";

const get = apiRoute({
  method: "get",
  path: "/v1/resources/{resource_id}",
  operationId: "getResource",
  tags: ["Resources"],
  summary: "Read a resource",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  resource: true,
  request: { params: ResourceParams },
  responses: { 200: json(Resource, "The resource.") },
  notFound: ["resource"],
});

const getOfStack = apiRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources/{resource_id}",
  operationId: "getStackResource",
  tags: ["Resources"],
  summary: "Read a resource of a stack",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  resource: true,
  request: { params: ResourceOfStackParams },
  responses: { 200: json(Resource, "The resource.") },
  notFound: ["resource"],
});

const getOfEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/resources/{resource_id}",
  operationId: "getEnvironmentResource",
  tags: ["Resources"],
  summary: "Read a resource of an environment",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  resource: true,
  request: { params: ResourceOfEnvironmentParams },
  responses: { 200: json(Resource, "The resource.") },
  notFound: ["resource"],
});

const listOfStack = apiRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources",
  operationId: "listStackResources",
  tags: ["Resources"],
  summary: "List the resources of a stack",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  polled: true,
  request: { params: StackParams, query: ListQuery },
  responses: { 200: json(ResourceList, "A page of resources.") },
  notFound: ["stack"],
});

const listOfEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/resources",
  operationId: "listEnvironmentResources",
  tags: ["Resources"],
  summary: "List the resources of an environment",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  polled: true,
  request: { params: EnvironmentParams, query: ListQuery },
  responses: { 200: json(ResourceList, "A page of resources.") },
  notFound: ["environment"],
});

export const resourceRoutes = createRouter()
  .openapi(get, (c) =>
    ok(c, (ctx) => getResource(ctx, c.req.valid("param").resource_id), presentResource, {
      version: unchanging,
    }),
  )
  .openapi(getOfStack, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getResource(ctx, params.resource_id, { kind: "stack", id: params.stack_id }),
      presentResource,
      { version: unchanging },
    );
  })
  .openapi(getOfEnvironment, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) =>
        getResource(ctx, params.resource_id, { kind: "environment", id: params.environment_id }),
      presentResource,
      { version: unchanging },
    );
  })
  .openapi(listOfStack, (c) =>
    page(
      c,
      (ctx) =>
        listResourcesOfStack(
          ctx,
          c.req.valid("param").stack_id,
          toPageRequest(c.req.valid("query")),
        ),
      presentResource,
    ),
  )
  .openapi(listOfEnvironment, (c) =>
    page(
      c,
      (ctx) =>
        listResourcesOfEnvironment(
          ctx,
          c.req.valid("param").environment_id,
          toPageRequest(c.req.valid("query")),
        ),
      presentResource,
    ),
  );
