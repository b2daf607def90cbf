import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
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
  scope: "environments:read",
  request: () => ({ params: EnvironmentParams(), query: namedListQuery(LIMITS.slugLength.value) }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/components",
  operationId: "createComponent",
  status: 201,
  record: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ComponentInput()) }),
});

const get = operation({
  method: "get",
  path: "/v1/components/{component_id}",
  operationId: "getComponent",
  record: true,
  scope: "environments:read",
  request: () => ({ params: ComponentParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/components/{component_id}",
  operationId: "replaceComponent",
  record: true,
  scope: "environments:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(ComponentInput()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/components/{component_id}",
  operationId: "updateComponent",
  record: true,
  scope: "environments:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(UpdateComponent()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/components/{component_id}",
  operationId: "deleteComponent",
  status: 204,
  record: true,
  scope: "environments:write",
  request: () => ({ params: ComponentParams() }),
});

export const componentRoutes = createRouter<Documented>()
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
    return jsonWithTag(c, component.recordVersion, presentComponent(component), 201);
  })
  .openapi(get, async (c) => {
    const component = await getComponent(c.env, c.req.valid("param").component_id);
    return jsonWithTag(c, component.recordVersion, presentComponent(component), 200);
  })
  .openapi(replace, async (c) => {
    const { component_id } = c.req.valid("param");
    const component = await changeComponent(c.env, component_id, c.req.valid("json"));
    return jsonWithTag(c, component.recordVersion, presentComponent(component), 200);
  })
  .openapi(update, async (c) => {
    const { component_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const component = await once(c.env, changeComponent, component_id, change);
    return jsonWithTag(c, component.recordVersion, presentComponent(component), 200);
  })
  .openapi(remove, async (c) => {
    await deleteComponent(c.env, c.req.valid("param").component_id);
    return c.body(null, 204);
  });
