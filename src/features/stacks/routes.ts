import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentStack } from "./presenters.ts";
import { StackInput, StackParams, UpdateStack } from "./schemas.ts";
import { changeStack, createStack, deleteStack, getStack, listStacks } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "listStacks",
  scope: "environments:read",
  request: () => ({
    params: EnvironmentParams(),
    query: namedListQuery(LIMITS.stackNameLength.value),
  }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "createStack",
  status: 201,
  record: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(StackInput()) }),
});

const get = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}",
  operationId: "getStack",
  record: true,
  scope: "environments:read",
  request: () => ({ params: StackParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}",
  operationId: "replaceStack",
  record: true,
  scope: "environments:write",
  request: () => ({ params: StackParams(), body: jsonBody(StackInput()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/stacks/{stack_id}",
  operationId: "updateStack",
  record: true,
  scope: "environments:write",
  request: () => ({ params: StackParams(), body: jsonBody(UpdateStack()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/stacks/{stack_id}",
  operationId: "deleteStack",
  status: 204,
  record: true,
  scope: "environments:write",
  request: () => ({ params: StackParams() }),
});

export const stackRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const stacks = await listStacks(c.env, c.req.valid("param").environment_id, page);
    return c.json(toEnvelope(stacks, presentStack), 200);
  })
  .openapi(create, async (c) => {
    const { name, component_id } = c.req.valid("json");
    const input = { name, componentId: component_id };
    const { environment_id } = c.req.valid("param");
    const stack = await once(c.env, createStack, environment_id, input);
    setLocation(c, get, { stack_id: stack.id });
    return jsonWithTag(c, stack.recordVersion, presentStack(stack), 201);
  })
  .openapi(get, async (c) => {
    const stack = await getStack(c.env, c.req.valid("param").stack_id);
    return jsonWithTag(c, stack.recordVersion, presentStack(stack), 200);
  })
  .openapi(replace, async (c) => {
    const { name, component_id } = c.req.valid("json");
    const input = { name, componentId: component_id };
    const stack = await changeStack(c.env, c.req.valid("param").stack_id, input);
    return jsonWithTag(c, stack.recordVersion, presentStack(stack), 200);
  })
  .openapi(update, async (c) => {
    const { name, component_id } = c.req.valid("json");
    const change = { name, componentId: component_id };
    const { stack_id } = c.req.valid("param");
    const stack = await once(c.env, changeStack, stack_id, change);
    return jsonWithTag(c, stack.recordVersion, presentStack(stack), 200);
  })
  .openapi(remove, async (c) => {
    await deleteStack(c.env, c.req.valid("param").stack_id);
    return c.body(null, 204);
  });
