import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { presentComponent } from "./presenters.ts";
import { Component, ComponentInput, ComponentList, UpdateComponent } from "./schemas.ts";
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
  tags: ["Components"],
  summary: "List the components of an environment",
  role: "viewer",
  scope: "environments:read",
  notFound: ["environment"],
  request: { params: EnvironmentParams(), query: namedListQuery(LIMITS.slugLength.value) },
  responses: { 200: jsonReply(ComponentList(), "A page of components.") },
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/components",
  operationId: "createComponent",
  tags: ["Components"],
  summary: "Create a component",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `A name that is taken in the environment is a \`conflict\`.`,
  notFound: ["environment"],
  errors: {
    component_name_taken: new Conflict(
      "The environment already has a component with this name. Choose another name.",
    ),
    component_limit: new LimitReached(LIMITS.components.value, "components"),
  },
  request: { params: EnvironmentParams(), body: jsonBody(ComponentInput()) },
  responses: { 201: jsonReply(Component(), "The component.") },
});

const get = operation({
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  tags: ["Components"],
  summary: "Read a component",
  role: "viewer",
  record: true,
  scope: "environments:read",
  notFound: ["component"],
  request: { params: ComponentParams() },
  responses: { 200: jsonReply(Component(), "The component.") },
});

const replace = operation({
  method: "put",
  path: "/v1/components/{component_id}",
  operationId: "replaceComponent",
  tags: ["Components"],
  summary: "Replace a component",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `A name that is taken in the environment is a \`conflict\`.`,
  notFound: ["component"],
  errors: {
    component_name_taken: new Conflict(
      "The environment already has a component with this name. Choose another name.",
    ),
  },
  request: { params: ComponentParams(), body: jsonBody(ComponentInput()) },
  responses: { 200: jsonReply(Component(), "The component.") },
});

const update = operation({
  method: "patch",
  path: "/v1/components/{component_id}",
  operationId: "updateComponent",
  tags: ["Components"],
  summary: "Change some fields of a component",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    "A field that is absent stays as it is. A name that is taken in the environment is a `conflict`.",
  notFound: ["component"],
  errors: {
    component_name_taken: new Conflict(
      "The environment already has a component with this name. Choose another name.",
    ),
  },
  request: { params: ComponentParams(), body: jsonBody(UpdateComponent()) },
  responses: { 200: jsonReply(Component(), "The component.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/components/{component_id}",
  operationId: "deleteComponent",
  tags: ["Components"],
  summary: "Delete a component",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    `Deletes its variables too. Its stacks stay in the environment, because ` +
    "they represent what runs at the provider.",
  notFound: ["component"],
  request: { params: ComponentParams() },
  responses: { 204: NO_CONTENT },
});

export const componentRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const components = await listComponents(c.env, c.req.valid("param").environment_id, page);
    return c.json(toEnvelope(components, presentComponent), 200);
  })
  .openapi(create, async (c) => {
    const { environment_id } = c.req.valid("param");
    const input = c.req.valid("json");
    const component = await once(c.env, createComponent, environment_id, input);
    setLocation(c, get, { component_id: component.id });
    return c.json(await tagged(c, component.recordVersion, presentComponent(component)), 201);
  })
  .openapi(get, async (c) => {
    const component = await getComponent(c.env, c.req.valid("param").component_id);
    return c.json(await tagged(c, component.recordVersion, presentComponent(component)), 200);
  })
  .openapi(replace, async (c) => {
    const { component_id } = c.req.valid("param");
    const component = await changeComponent(c.env, component_id, c.req.valid("json"));
    return c.json(await tagged(c, component.recordVersion, presentComponent(component)), 200);
  })
  .openapi(update, async (c) => {
    const { component_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const component = await once(c.env, changeComponent, component_id, change);
    return c.json(await tagged(c, component.recordVersion, presentComponent(component)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteComponent(c.env, c.req.valid("param").component_id);
    return c.body(null, 204);
  });
