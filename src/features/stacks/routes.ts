import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { presentStack } from "./presenters.ts";
import { Stack, StackInput, StackList, StackParams, UpdateStack } from "./schemas.ts";
import { changeStack, createStack, deleteStack, getStack, listStacks } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "listStacks",
  tags: ["Stacks"],
  summary: "List the stacks of an environment",
  role: "viewer",
  scope: "environments:read",
  notFound: ["environment"],
  request: { params: EnvironmentParams(), query: namedListQuery(LIMITS.stackNameLength.value) },
  responses: { 200: jsonReply(StackList(), "A page of stacks.") },
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "createStack",
  tags: ["Stacks"],
  summary: "Create a stack",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `A name that is taken in the environment is a \`conflict\`.`,
  notFound: ["environment", "component in the environment"],
  errors: {
    stack_name_taken: new Conflict(
      "The environment already has a stack with this name. Choose another name.",
    ),
    stack_limit: new LimitReached(LIMITS.stacks.value, "stacks"),
    environment_stack_limit: new LimitReached(
      LIMITS.stacksOfEnvironment.value,
      "stacks in an environment",
    ),
  },
  request: { params: EnvironmentParams(), body: jsonBody(StackInput()) },
  responses: { 201: jsonReply(Stack(), "The stack.") },
});

const get = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}",
  operationId: "getStack",
  tags: ["Stacks"],
  summary: "Read a stack",
  role: "viewer",
  record: true,
  scope: "environments:read",
  notFound: ["stack"],
  request: { params: StackParams() },
  responses: { 200: jsonReply(Stack(), "The stack.") },
});

const replace = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}",
  operationId: "replaceStack",
  tags: ["Stacks"],
  summary: "Replace a stack",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `A name that is taken in the environment is a \`conflict\`.`,
  notFound: ["stack", "component in the environment"],
  errors: {
    stack_name_taken: new Conflict(
      "The environment already has a stack with this name. Choose another name.",
    ),
  },
  request: { params: StackParams(), body: jsonBody(StackInput()) },
  responses: { 200: jsonReply(Stack(), "The stack.") },
});

const update = operation({
  method: "patch",
  path: "/v1/stacks/{stack_id}",
  operationId: "updateStack",
  tags: ["Stacks"],
  summary: "Change some fields of a stack",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description:
    "A field that is absent stays as it is. A name that is taken in the environment is a `conflict`.",
  notFound: ["stack", "component in the environment"],
  errors: {
    stack_name_taken: new Conflict(
      "The environment already has a stack with this name. Choose another name.",
    ),
  },
  request: { params: StackParams(), body: jsonBody(UpdateStack()) },
  responses: { 200: jsonReply(Stack(), "The stack.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/stacks/{stack_id}",
  operationId: "deleteStack",
  tags: ["Stacks"],
  summary: "Delete a stack",
  role: "contributor",
  record: true,
  scope: "environments:write",
  description: `Changes nothing at the provider.`,
  notFound: ["stack"],
  errors: {
    stack_in_use: new Conflict("An unfinished deployment includes the stack. Cancel it first."),
  },
  request: { params: StackParams() },
  responses: { 204: NO_CONTENT },
});

export const stackRoutes = createRouter()
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
    return c.json(await tagged(c, stack.recordVersion, presentStack(stack)), 201);
  })
  .openapi(get, async (c) => {
    const stack = await getStack(c.env, c.req.valid("param").stack_id);
    return c.json(await tagged(c, stack.recordVersion, presentStack(stack)), 200);
  })
  .openapi(replace, async (c) => {
    const { name, component_id } = c.req.valid("json");
    const input = { name, componentId: component_id };
    const stack = await changeStack(c.env, c.req.valid("param").stack_id, input);
    return c.json(await tagged(c, stack.recordVersion, presentStack(stack)), 200);
  })
  .openapi(update, async (c) => {
    const { name, component_id } = c.req.valid("json");
    const change = { name, componentId: component_id };
    const { stack_id } = c.req.valid("param");
    const stack = await once(c.env, changeStack, stack_id, change);
    return c.json(await tagged(c, stack.recordVersion, presentStack(stack)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteStack(c.env, c.req.valid("param").stack_id);
    return c.body(null, 204);
  });
