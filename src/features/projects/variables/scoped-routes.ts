import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
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
  presentEach: presentVariable,
  scope: "variables:read",
  request: () => ({ params: ComponentParams(), query: VariableQuery() }),
});

const createInComponent = operation({
  method: "post",
  path: "/v1/components/{component_id}/variables",
  operationId: "createComponentVariable",
  status: 201,
  resource: true,
  present: presentVariable,
  location: get,
  scope: "variables:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(VariableInput()) }),
});

const putInComponent = operation({
  method: "put",
  path: "/v1/components/{component_id}/variables",
  operationId: "putComponentVariables",
  presentEach: presentVariable,
  scope: "variables:write",
  request: () => ({ params: ComponentParams(), body: jsonBody(PutVariables()) }),
});

const revealInComponent = operation({
  method: "get",
  path: "/v1/components/{component_id}/variables/values",
  operationId: "revealComponentVariables",
  presentEach: presentRevealed,
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: ComponentParams() }),
});

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "listEnvironmentVariables",
  presentEach: presentVariable,
  scope: "variables:read",
  request: () => ({ params: EnvironmentParams(), query: VariableQuery() }),
});

const createInEnvironment = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "createEnvironmentVariable",
  status: 201,
  resource: true,
  present: presentVariable,
  location: get,
  scope: "variables:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(VariableInput()) }),
});

const putInEnvironment = operation({
  method: "put",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "putEnvironmentVariables",
  presentEach: presentVariable,
  scope: "variables:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(PutVariables()) }),
});

const revealInEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/variables/values",
  operationId: "revealEnvironmentVariables",
  presentEach: presentRevealed,
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: EnvironmentParams() }),
});

export const scopedVariableRoutes = createRouter<Documented>()
  .handle(listOfComponent, ({ ctx, params, query }) =>
    listVariables(ctx, component(params.component_id), toNamedPageRequest(query)),
  )
  .handle(createInComponent, ({ ctx, params, body }) =>
    createVariable(ctx, component(params.component_id), toVariableInput(body)),
  )
  .handle(putInComponent, ({ ctx, params, body: { mode, variables } }) =>
    putVariables(ctx, component(params.component_id), {
      mode,
      variables: variables.map(toVariableInput),
    }),
  )
  .handle(revealInComponent, async ({ ctx, params }) => ({
    rows: await revealVariables(ctx, component(params.component_id)),
    next: undefined,
  }))
  .handle(listOfEnvironment, ({ ctx, params, query }) =>
    listVariables(ctx, environment(params.environment_id), toNamedPageRequest(query)),
  )
  .handle(createInEnvironment, ({ ctx, params, body }) =>
    createVariable(ctx, environment(params.environment_id), toVariableInput(body)),
  )
  .handle(putInEnvironment, ({ ctx, params, body: { mode, variables } }) =>
    putVariables(ctx, environment(params.environment_id), {
      mode,
      variables: variables.map(toVariableInput),
    }),
  )
  .handle(revealInEnvironment, async ({ ctx, params }) => ({
    rows: await revealVariables(ctx, environment(params.environment_id)),
    next: undefined,
  }));

function component(id: string): ScopeReference {
  return { kind: "component", id };
}

function environment(id: string): ScopeReference {
  return { kind: "environment", id };
}
