import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../http/params.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { putVariables } from "./bulk-write.ts";
import type { ScopeReference } from "./model.ts";
import { presentRevealed, presentVariable, toVariableInput } from "./presenters.ts";
import { get } from "./routes.ts";
import {
  PutVariables,
  RevealedVariableList,
  Variable,
  VariableInput,
  VariableList,
} from "./schemas.ts";
import { createVariable, listVariables } from "./service.ts";
import { revealVariables } from "./values.ts";

const TAGS = ["Variables"];
const VariableQuery = lazy(() => namedListQuery(LIMITS.variableNameLength.value));
const TAKEN = "A name that is taken is a `conflict`.";
const ATOMIC =
  "Writes up to 200 variables, all or none, as one request of the rate limit. The error for an " +
  "invalid one names its index. Returns the first 240 variables after the change.";

const CREATION_ERRORS = {
  variable_name_taken: new Conflict(
    "A variable with this name already exists. Replace it, or choose another name.",
  ),
  resource_id_taken: new Conflict(
    "A renamed variable keeps the resource_id of this name. Delete it, or choose another name.",
  ),
  variable_limit: new LimitReached(LIMITS.variables.value, "variables"),
  environment_variable_limit: new LimitReached(
    LIMITS.variablesOfEnvironment.value,
    "variables of an environment",
  ),
  value_bytes_limit: new LimitReached(
    LIMITS.variableBytesOfEnvironment.value,
    "bytes of values in an environment",
  ),
};
const BULK_ERRORS = {
  ...CREATION_ERRORS,
  variables_changing: new Conflict("Another request is changing the same variables. Retry."),
};

const listOfComponent = operation({
  method: "get",
  path: "/v1/components/{component_id}/variables",
  operationId: "listComponentVariables",
  tags: TAGS,
  summary: "List the variables of a component",
  role: "viewer",
  scope: "variables:read",
  description: `Does not include the variables of its environment.`,
  notFound: ["component"],
  request: { params: ComponentParams(), query: VariableQuery() },
  responses: { 200: jsonReply(VariableList(), "A page of variables.") },
});

const createInComponent = operation({
  method: "post",
  path: "/v1/components/{component_id}/variables",
  operationId: "createComponentVariable",
  tags: TAGS,
  summary: "Create a variable of a component",
  role: "contributor",
  record: true,
  scope: "variables:write",
  description: `${TAKEN}`,
  notFound: ["component"],
  errors: CREATION_ERRORS,
  request: { params: ComponentParams(), body: jsonBody(VariableInput()) },
  responses: { 201: jsonReply(Variable(), "The variable.") },
});

const putInComponent = operation({
  method: "put",
  path: "/v1/components/{component_id}/variables",
  operationId: "putComponentVariables",
  tags: TAGS,
  summary: "Write many variables of a component",
  role: "contributor",
  scope: "variables:write",
  description: `${ATOMIC}`,
  notFound: ["component"],
  errors: BULK_ERRORS,
  request: { params: ComponentParams(), body: jsonBody(PutVariables()) },
  responses: { 200: jsonReply(VariableList(), "The variables after the change.") },
});

const revealInComponent = operation({
  method: "get",
  path: "/v1/components/{component_id}/variables/values",
  operationId: "revealComponentVariables",
  tags: TAGS,
  summary: "Reveal the values of the variables of a component",
  role: "contributor",
  scope: "variables:reveal",
  description:
    "Returns all of them on one page, sorted by name, without those of its environment. One record of the " +
    "audit log names them.",
  policy: "reveal",
  writes: true,
  notFound: ["component"],
  request: { params: ComponentParams() },
  responses: { 200: jsonReply(RevealedVariableList(), "The variables, with their values.") },
});

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "listEnvironmentVariables",
  tags: TAGS,
  summary: "List the variables of an environment",
  role: "viewer",
  scope: "variables:read",
  description: `Does not include the variables of its components.`,
  notFound: ["environment"],
  request: { params: EnvironmentParams(), query: VariableQuery() },
  responses: { 200: jsonReply(VariableList(), "A page of variables.") },
});

const createInEnvironment = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "createEnvironmentVariable",
  tags: TAGS,
  summary: "Create a variable of an environment",
  role: "contributor",
  record: true,
  scope: "variables:write",
  description: `${TAKEN}`,
  notFound: ["environment"],
  errors: CREATION_ERRORS,
  request: { params: EnvironmentParams(), body: jsonBody(VariableInput()) },
  responses: { 201: jsonReply(Variable(), "The variable.") },
});

const putInEnvironment = operation({
  method: "put",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "putEnvironmentVariables",
  tags: TAGS,
  summary: "Write many variables of an environment",
  role: "contributor",
  scope: "variables:write",
  description: `${ATOMIC}`,
  notFound: ["environment"],
  errors: BULK_ERRORS,
  request: { params: EnvironmentParams(), body: jsonBody(PutVariables()) },
  responses: { 200: jsonReply(VariableList(), "The variables after the change.") },
});

const revealInEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables/values",
  operationId: "revealEnvironmentVariables",
  tags: TAGS,
  summary: "Reveal the values of the variables of an environment",
  role: "contributor",
  scope: "variables:reveal",
  description:
    "Returns all of them on one page, sorted by name, without those of its components. One record of the " +
    "audit log names them.",
  policy: "reveal",
  writes: true,
  notFound: ["environment"],
  request: { params: EnvironmentParams() },
  responses: { 200: jsonReply(RevealedVariableList(), "The variables, with their values.") },
});

export const scopedVariableRoutes = createRouter()
  .openapi(listOfComponent, async (c) => {
    const scope = component(c.req.valid("param").component_id);
    const page = await listVariables(c.env, scope, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentVariable), 200);
  })
  .openapi(createInComponent, async (c) => {
    const scope = component(c.req.valid("param").component_id);
    const input = toVariableInput(c.req.valid("json"));
    const variable = await once(c.env, createVariable, scope, input);
    setLocation(c, get, { variable_id: variable.id });
    return c.json(await tagged(c, variable.version, presentVariable(variable)), 201);
  })
  .openapi(putInComponent, async (c) => {
    const scope = component(c.req.valid("param").component_id);
    const { mode, variables } = c.req.valid("json");
    const input = { mode, variables: variables.map(toVariableInput) };
    return c.json(toEnvelope(await putVariables(c.env, scope, input), presentVariable), 200);
  })
  .openapi(revealInComponent, async (c) => {
    const scope = component(c.req.valid("param").component_id);
    const rows = await revealVariables(c.env, scope);
    return c.json(toEnvelope({ rows, next: undefined }, presentRevealed), 200);
  })
  .openapi(listOfEnvironment, async (c) => {
    const scope = environment(c.req.valid("param").environment_id);
    const page = await listVariables(c.env, scope, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentVariable), 200);
  })
  .openapi(createInEnvironment, async (c) => {
    const scope = environment(c.req.valid("param").environment_id);
    const input = toVariableInput(c.req.valid("json"));
    const variable = await once(c.env, createVariable, scope, input);
    setLocation(c, get, { variable_id: variable.id });
    return c.json(await tagged(c, variable.version, presentVariable(variable)), 201);
  })
  .openapi(putInEnvironment, async (c) => {
    const scope = environment(c.req.valid("param").environment_id);
    const { mode, variables } = c.req.valid("json");
    const input = { mode, variables: variables.map(toVariableInput) };
    return c.json(toEnvelope(await putVariables(c.env, scope, input), presentVariable), 200);
  })
  .openapi(revealInEnvironment, async (c) => {
    const scope = environment(c.req.valid("param").environment_id);
    const rows = await revealVariables(c.env, scope);
    return c.json(toEnvelope({ rows, next: undefined }, presentRevealed), 200);
  });

function component(id: string): ScopeReference {
  return { kind: "component", id };
}

function environment(id: string): ScopeReference {
  return { kind: "environment", id };
}
