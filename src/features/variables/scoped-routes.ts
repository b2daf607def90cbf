import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { putVariables } from "./bulk-write.ts";
import type { Documented } from "./document.ts";
import type { ScopeReference } from "./model.ts";
import { presentRevealed, presentVariable, toVariableInput } from "./presenters.ts";
import { get } from "./routes.ts";
import { PutVariables, VariableInput } from "./schemas.ts";
import { createVariable, listVariables } from "./service.ts";
import { revealVariables } from "./values.ts";

const VariableQuery = lazy(() => namedListQuery(LIMITS.variableNameLength.value));

const listOfComponent = operation({
  method: "get",
  path: "/v1/components/{component_id}/variables",
  operationId: "listComponentVariables",
  scope: "variables:read",
  request: () => ({ params: ComponentParams(), query: VariableQuery() }),
});

const createInComponent = operation({
  method: "post",
  path: "/v1/components/{component_id}/variables",
  operationId: "createComponentVariable",
  status: 201,
  record: true,
  scope: "variables:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(VariableInput()) }),
});

const putInComponent = operation({
  method: "put",
  path: "/v1/components/{component_id}/variables",
  operationId: "putComponentVariables",
  scope: "variables:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(PutVariables()) }),
});

const revealInComponent = operation({
  method: "get",
  path: "/v1/components/{component_id}/variables/values",
  operationId: "revealComponentVariables",
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: ComponentParams() }),
});

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "listEnvironmentVariables",
  scope: "variables:read",
  request: () => ({ params: EnvironmentParams(), query: VariableQuery() }),
});

const createInEnvironment = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "createEnvironmentVariable",
  status: 201,
  record: true,
  scope: "variables:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(VariableInput()) }),
});

const putInEnvironment = operation({
  method: "put",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "putEnvironmentVariables",
  scope: "variables:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(PutVariables()) }),
});

const revealInEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables/values",
  operationId: "revealEnvironmentVariables",
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: EnvironmentParams() }),
});

export const scopedVariableRoutes = createRouter<Documented>()
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
    return jsonWithTag(c, variable.version, presentVariable(variable), 201);
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
    return jsonWithTag(c, variable.version, presentVariable(variable), 201);
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
