import { jsonWithTag } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { StackParams } from "../stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentResource } from "./presenters.ts";
import { ResourceOfEnvironmentParams, ResourceOfStackParams, ResourceParams } from "./schemas.ts";
import { getResource, listResourcesOfEnvironment, listResourcesOfStack } from "./service.ts";

/** Only runners write resources. */
const VERSION = 1;

const get = operation({
  method: "get",
  path: "/v1/resources/{resource_id}",
  operationId: "getResource",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceParams() }),
});

const getOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources/{resource_id}",
  operationId: "getStackResource",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceOfStackParams() }),
});

const getOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/resources/{resource_id}",
  operationId: "getEnvironmentResource",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: ResourceOfEnvironmentParams() }),
});

const listOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/resources",
  operationId: "listStackResources",
  polled: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: StackParams(), query: ListQuery() }),
});

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/resources",
  operationId: "listEnvironmentResources",
  polled: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: EnvironmentParams(), query: ListQuery() }),
});

export const resourceRoutes = createRouter<Documented>()
  .openapi(get, async (c) => {
    const { resource_id } = c.req.valid("param");
    const resource = await getResource(c.env, resource_id);
    return jsonWithTag(c, VERSION, presentResource(resource), 200);
  })
  .openapi(getOfStack, async (c) => {
    const { stack_id, resource_id } = c.req.valid("param");
    const resource = await getResource(c.env, resource_id, { kind: "stack", id: stack_id });
    return jsonWithTag(c, VERSION, presentResource(resource), 200);
  })
  .openapi(getOfEnvironment, async (c) => {
    const { environment_id, resource_id } = c.req.valid("param");
    const resource = await getResource(c.env, resource_id, {
      kind: "environment",
      id: environment_id,
    });
    return jsonWithTag(c, VERSION, presentResource(resource), 200);
  })
  .openapi(listOfStack, async (c) => {
    const page = toPageRequest(c.req.valid("query"));
    const found = await listResourcesOfStack(c.env, c.req.valid("param").stack_id, page);
    return c.json(toEnvelope(found, presentResource), 200);
  })
  .openapi(listOfEnvironment, async (c) => {
    const page = toPageRequest(c.req.valid("query"));
    const { environment_id } = c.req.valid("param");
    const found = await listResourcesOfEnvironment(c.env, environment_id, page);
    return c.json(toEnvelope(found, presentResource), 200);
  });
