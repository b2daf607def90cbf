import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { ComponentParams, EnvironmentParams } from "../../../http/params.ts";
import { created, json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { putVariables } from "./bulk-write.ts";
import type { ScopeReference } from "./model.ts";
import { COUNTED, NAME_TAKEN, RESOURCE_ID_TAKEN, VARIABLES_CHANGING } from "./model.ts";
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

const AFTER = "The variables after the change.";

const REVEALED = "The variables, with their values.";

const TAKEN = "A name that is taken is a `conflict`.";

const ATOMIC =
  `Writes up to ${LIMITS.writtenVariables.value} variables, all or none, as one request of the rate limit. The error for an ` +
  `invalid one names its index. Returns the first ${LIMITS.pageItems.value} variables after the change.`;

const VALUE_BYTES = new LimitReached(LIMITS.variableBytesOfEnvironment.value, COUNTED.bytes);

const CREATION_ERRORS = {
  variable_name_taken: NAME_TAKEN,
  resource_id_taken: RESOURCE_ID_TAKEN,
  variable_limit: new LimitReached(QUOTAS.variables, "variables"),
  environment_variable_limit: new LimitReached(
    LIMITS.variablesOfEnvironment.value,
    COUNTED.variables,
  ),
  value_bytes_limit: VALUE_BYTES,
};

const BULK_ERRORS = {
  ...CREATION_ERRORS,
  variables_changing: VARIABLES_CHANGING,
};

const VariableQuery = namedListQuery(LIMITS.variableNameLength.value);

const listOfComponent = apiRoute({
  method: "get",
  path: "/v1/components/{component_id}/variables",
  operationId: "listComponentVariables",
  tags: TAGS,
  summary: "List the variables of a component",
  description: `Does not include the variables of its environment.`,
  access: { scope: "variables:read", role: "viewer" },
  request: { params: ComponentParams, query: VariableQuery },
  responses: { 200: json(VariableList, "A page of variables.") },
  notFound: ["component"],
});

const createInComponent = apiRoute({
  method: "post",
  path: "/v1/components/{component_id}/variables",
  operationId: "createComponentVariable",
  tags: TAGS,
  summary: "Create a variable of a component",
  description: `${TAKEN}`,
  access: { scope: "variables:write", role: "contributor" },
  resource: true,
  changes: ["variables"],
  request: { params: ComponentParams, body: jsonBody(VariableInput) },
  responses: { 201: json(Variable, "The variable.") },
  notFound: ["component"],
  errors: CREATION_ERRORS,
});

const putInComponent = apiRoute({
  method: "put",
  path: "/v1/components/{component_id}/variables",
  operationId: "putComponentVariables",
  tags: TAGS,
  summary: "Write many variables of a component",
  description: `${ATOMIC}`,
  access: { scope: "variables:write", role: "contributor" },
  changes: ["variables"],
  request: { params: ComponentParams, body: jsonBody(PutVariables) },
  responses: { 200: json(VariableList, AFTER) },
  notFound: ["component"],
  errors: BULK_ERRORS,
});

const revealInComponent = apiRoute({
  method: "get",
  path: "/v1/components/{component_id}/variables/values",
  operationId: "revealComponentVariables",
  tags: TAGS,
  summary: "Reveal the values of the variables of a component",
  description:
    "Returns all of them on one page, sorted by name, without those of its environment. One entry of the " +
    "audit log names them.",
  access: { scope: "variables:reveal", role: "contributor" },
  policy: "reveal",
  writes: true,
  request: { params: ComponentParams },
  responses: { 200: json(RevealedVariableList, REVEALED) },
  notFound: ["component"],
});

const listOfEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "listEnvironmentVariables",
  tags: TAGS,
  summary: "List the variables of an environment",
  description: `Does not include the variables of its components.`,
  access: { scope: "variables:read", role: "viewer" },
  request: { params: EnvironmentParams, query: VariableQuery },
  responses: { 200: json(VariableList, "A page of variables.") },
  notFound: ["environment"],
});

const createInEnvironment = apiRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "createEnvironmentVariable",
  tags: TAGS,
  summary: "Create a variable of an environment",
  description: `${TAKEN}`,
  access: { scope: "variables:write", role: "contributor" },
  resource: true,
  changes: ["variables"],
  request: { params: EnvironmentParams, body: jsonBody(VariableInput) },
  responses: { 201: json(Variable, "The variable.") },
  notFound: ["environment"],
  errors: CREATION_ERRORS,
});

const putInEnvironment = apiRoute({
  method: "put",
  path: "/v1/environments/{environment_id}/variables",
  operationId: "putEnvironmentVariables",
  tags: TAGS,
  summary: "Write many variables of an environment",
  description: `${ATOMIC}`,
  access: { scope: "variables:write", role: "contributor" },
  changes: ["variables"],
  request: { params: EnvironmentParams, body: jsonBody(PutVariables) },
  responses: { 200: json(VariableList, AFTER) },
  notFound: ["environment"],
  errors: BULK_ERRORS,
});

const revealInEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/variables/values",
  operationId: "revealEnvironmentVariables",
  tags: TAGS,
  summary: "Reveal the values of the variables of an environment",
  description:
    "Returns all of them on one page, sorted by name, without those of its components. One entry of the " +
    "audit log names them.",
  access: { scope: "variables:reveal", role: "contributor" },
  policy: "reveal",
  writes: true,
  request: { params: EnvironmentParams },
  responses: { 200: json(RevealedVariableList, REVEALED) },
  notFound: ["environment"],
});

export const scopedVariableRoutes = createRouter()
  .openapi(listOfComponent, (c) =>
    page(
      c,
      (ctx) =>
        listVariables(
          ctx,
          component(c.req.valid("param").component_id),
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentVariable,
    ),
  )
  .openapi(createInComponent, (c) =>
    created(
      c,
      get.path,
      (ctx) =>
        createVariable(
          ctx,
          component(c.req.valid("param").component_id),
          toVariableInput(c.req.valid("json")),
        ),
      presentVariable,
    ),
  )
  .openapi(putInComponent, (c) => {
    const { mode, variables } = c.req.valid("json");
    return page(
      c,
      (ctx) =>
        putVariables(ctx, component(c.req.valid("param").component_id), {
          mode,
          variables: variables.map(toVariableInput),
        }),
      presentVariable,
    );
  })
  .openapi(revealInComponent, (c) =>
    page(
      c,
      async (ctx) => ({
        rows: await revealVariables(ctx, component(c.req.valid("param").component_id)),
        next: undefined,
      }),
      presentRevealed,
    ),
  )
  .openapi(listOfEnvironment, (c) =>
    page(
      c,
      (ctx) =>
        listVariables(
          ctx,
          environment(c.req.valid("param").environment_id),
          toNamedPageRequest(c.req.valid("query")),
        ),
      presentVariable,
    ),
  )
  .openapi(createInEnvironment, (c) =>
    created(
      c,
      get.path,
      (ctx) =>
        createVariable(
          ctx,
          environment(c.req.valid("param").environment_id),
          toVariableInput(c.req.valid("json")),
        ),
      presentVariable,
    ),
  )
  .openapi(putInEnvironment, (c) => {
    const { mode, variables } = c.req.valid("json");
    return page(
      c,
      (ctx) =>
        putVariables(ctx, environment(c.req.valid("param").environment_id), {
          mode,
          variables: variables.map(toVariableInput),
        }),
      presentVariable,
    );
  })
  .openapi(revealInEnvironment, (c) =>
    page(
      c,
      async (ctx) => ({
        rows: await revealVariables(ctx, environment(c.req.valid("param").environment_id)),
        next: undefined,
      }),
      presentRevealed,
    ),
  );

function component(id: string): ScopeReference {
  return { kind: "component", id };
}

function environment(id: string): ScopeReference {
  return { kind: "environment", id };
}
