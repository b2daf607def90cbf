import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { presentEnvironment } from "../environments/index.ts";
import { Environment } from "../environments/schemas.ts";
import { COMPONENT, NAME_TAKEN, NOT_ALL, neededBy, STACK, STACK_IN_USE } from "./model.ts";
import { orderStacks } from "./order-service.ts";
import { presentStack } from "./presenters.ts";
import {
  Stack,
  StackInput,
  StackList,
  StackOrder,
  StackParams,
  toFields,
  UpdateStack,
} from "./schemas.ts";
import { changeStack, createStack, deleteStack, getStack, listStacks } from "./service.ts";

const TAKEN = "A name that is taken in the environment is a `conflict`.";
const RENAMED = `${TAKEN} So is another name for a stack that others need in the environment's configuration.`;

const list = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "listStacks",
  tags: ["Stacks"],
  summary: "List the stacks of an environment",
  access: { scope: "environments:read", role: "viewer" },
  request: {
    params: EnvironmentParams,
    query: namedListQuery(LIMITS.stackNameLength.value),
  },
  responses: { 200: json(StackList, "A page of stacks.") },
  notFound: ["environment"],
});

const order = apiRoute({
  method: "put",
  path: "/v1/environments/{environment_id}/stack-order",
  operationId: "orderStacks",
  tags: ["Stacks"],
  summary: "Set the order in which an environment deploys its stacks",
  description:
    "Name all of them, each once: otherwise it is a `conflict`. Those that are created later come last. What a stack needs is " +
    "deployed before it whatever the order. `ETag` and `If-Match` are of the environment.",
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["stacks"],
  request: { params: EnvironmentParams, body: jsonBody(StackOrder) },
  responses: { 200: json(Environment, "The environment.") },
  notFound: ["environment", STACK],
  errors: { not_all_stacks: NOT_ALL },
});

const get = apiRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}",
  operationId: "getStack",
  tags: ["Stacks"],
  summary: "Read a stack",
  access: { scope: "environments:read", role: "viewer" },
  resource: true,
  request: { params: StackParams },
  responses: { 200: json(Stack, "The stack.") },
  notFound: ["stack"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/stacks",
  operationId: "createStack",
  tags: ["Stacks"],
  summary: "Create a stack",
  description: TAKEN,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["stacks"],
  request: { params: EnvironmentParams, body: jsonBody(StackInput) },
  responses: { 201: json(Stack, "The stack.") },
  notFound: ["environment", COMPONENT],
  errors: {
    stack_name_taken: NAME_TAKEN,
    stack_limit: new LimitReached(QUOTAS.stacks, "stacks"),
    environment_stack_limit: new LimitReached(
      LIMITS.stacksOfEnvironment.value,
      "stacks in an environment",
    ),
  },
});

const replace = apiRoute({
  method: "put",
  path: "/v1/stacks/{stack_id}",
  operationId: "replaceStack",
  tags: ["Stacks"],
  summary: "Replace a stack",
  description: RENAMED,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["stacks"],
  request: { params: StackParams, body: jsonBody(StackInput) },
  responses: { 200: json(Stack, "The stack.") },
  notFound: ["stack", COMPONENT],
  errors: {
    stack_name_taken: NAME_TAKEN,
    stack_needed: neededBy(["web", "jobs"]),
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/stacks/{stack_id}",
  operationId: "updateStack",
  tags: ["Stacks"],
  summary: "Change some fields of a stack",
  description: `A field that is absent stays as it is. ${RENAMED}`,
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["stacks"],
  request: { params: StackParams, body: jsonBody(UpdateStack) },
  responses: { 200: json(Stack, "The stack.") },
  notFound: ["stack", COMPONENT],
  errors: {
    stack_name_taken: NAME_TAKEN,
    stack_needed: neededBy(["web", "jobs"]),
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/stacks/{stack_id}",
  operationId: "deleteStack",
  tags: ["Stacks"],
  summary: "Delete a stack",
  description:
    "Changes nothing at the provider. A stack that others need in the environment's configuration can't be deleted: this " +
    "is a `conflict`.",
  access: { scope: "environments:write", role: "contributor" },
  resource: true,
  changes: ["stacks"],
  request: { params: StackParams },
  responses: { 204: noContent },
  notFound: ["stack"],
  errors: {
    stack_in_use: STACK_IN_USE,
    stack_needed: neededBy(["web", "jobs"]),
  },
});

export const stackRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listStacks(
          ctx,
          c.req.valid("param").environment_id,
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentStack,
    ),
  )
  .openapi(create, (c) => {
    const { environment_id } = c.req.valid("param");
    const fields = toFields(c.req.valid("json"));
    return created(c, get.path, (ctx) => createStack(ctx, environment_id, fields), presentStack);
  })
  .openapi(order, (c) =>
    ok(
      c,
      (ctx) => orderStacks(ctx, c.req.valid("param").environment_id, c.req.valid("json").stack_ids),
      presentEnvironment,
    ),
  )
  .openapi(get, (c) => ok(c, (ctx) => getStack(ctx, c.req.valid("param").stack_id), presentStack))
  .openapi(replace, (c) => {
    const { stack_id } = c.req.valid("param");
    const fields = toFields(c.req.valid("json"));
    return ok(c, (ctx) => changeStack(ctx, stack_id, fields), presentStack);
  })
  .openapi(update, (c) => {
    const { stack_id } = c.req.valid("param");
    const fields = toFields(c.req.valid("json"));
    return ok(c, (ctx) => changeStack(ctx, stack_id, fields), presentStack);
  })
  .openapi(remove, (c) => done(c, (ctx) => deleteStack(ctx, c.req.valid("param").stack_id)));
