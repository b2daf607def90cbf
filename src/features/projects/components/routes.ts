import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NAME_TAKEN } from "./model.ts";
import { presentComponent } from "./presenters.ts";
import { Component, ComponentInput, ComponentList, UpdateComponent } from "./schemas.ts";
import {
  changeComponent,
  createComponent,
  deleteComponent,
  getComponent,
  listComponents,
} from "./service.ts";

const TAKEN = "A name that is taken in the environment is a `conflict`.";

const list = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/components",
  operationId: "listComponents",
  tags: ["Components"],
  summary: "List the components of an environment",
  access: { scope: "environments:read", role: "viewer" },
  request: { params: EnvironmentParams, query: namedListQuery(LIMITS.slugLength.value) },
  responses: { 200: json(ComponentList, "A page of components.") },
  notFound: ["environment"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  tags: ["Components"],
  summary: "Read a component",
  access: { scope: "environments:read", role: "viewer" },
  resource: true,
  request: { params: ComponentParams },
  responses: { 200: json(Component, "The component.") },
  notFound: ["component"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/components",
  operationId: "createComponent",
  tags: ["Components"],
  summary: "Create a component",
  description: TAKEN,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["components"],
  request: { params: EnvironmentParams, body: jsonBody(ComponentInput) },
  responses: { 201: json(Component, "The component.") },
  notFound: ["environment"],
  errors: {
    component_name_taken: NAME_TAKEN,
    component_limit: new LimitReached(QUOTAS.components, "components"),
  },
});

const replace = apiRoute({
  method: "put",
  path: "/v1/components/{component_id}",
  operationId: "replaceComponent",
  tags: ["Components"],
  summary: "Replace a component",
  description: TAKEN,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["components"],
  request: { params: ComponentParams, body: jsonBody(ComponentInput) },
  responses: { 200: json(Component, "The component.") },
  notFound: ["component"],
  errors: {
    component_name_taken: NAME_TAKEN,
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/components/{component_id}",
  operationId: "updateComponent",
  tags: ["Components"],
  summary: "Change some fields of a component",
  description: `A field that is absent stays as it is. ${TAKEN}`,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["components"],
  request: { params: ComponentParams, body: jsonBody(UpdateComponent) },
  responses: { 200: json(Component, "The component.") },
  notFound: ["component"],
  errors: {
    component_name_taken: NAME_TAKEN,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/components/{component_id}",
  operationId: "deleteComponent",
  tags: ["Components"],
  summary: "Delete a component",
  description:
    `Deletes its variables too. Its stacks stay in the environment, because ` +
    "they represent what runs at the provider.",
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["components"],
  request: { params: ComponentParams },
  responses: { 204: noContent },
  notFound: ["component"],
});

export const componentRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listComponents(
          ctx,
          c.req.valid("param").environment_id,
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentComponent,
    ),
  )
  .openapi(create, (c) =>
    created(
      c,
      get.path,
      (ctx) => createComponent(ctx, c.req.valid("param").environment_id, c.req.valid("json")),
      presentComponent,
    ),
  )
  .openapi(get, (c) =>
    ok(c, (ctx) => getComponent(ctx, c.req.valid("param").component_id), presentComponent),
  )
  .openapi(replace, (c) =>
    ok(
      c,
      (ctx) => changeComponent(ctx, c.req.valid("param").component_id, c.req.valid("json")),
      presentComponent,
    ),
  )
  .openapi(update, (c) =>
    ok(
      c,
      (ctx) => changeComponent(ctx, c.req.valid("param").component_id, c.req.valid("json")),
      presentComponent,
    ),
  )
  .openapi(remove, (c) =>
    done(c, (ctx) => deleteComponent(ctx, c.req.valid("param").component_id)),
  );
