import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentVariable, toVariableInput } from "./presenters.ts";
import { VariableInput, VariableParams } from "./schemas.ts";
import { deleteVariable, getVariable, replaceVariable, revealVariable } from "./service.ts";

export const get = operation({
  method: "get",
  path: "/v1/variables/{variable_id}",
  operationId: "getVariable",
  resource: true,
  present: presentVariable,
  scope: "variables:read",
  request: () => ({ params: VariableParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/variables/{variable_id}",
  operationId: "replaceVariable",
  resource: true,
  present: presentVariable,
  scope: "variables:write",
  request: () => ({ params: VariableParams(), body: jsonBody(VariableInput()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/variables/{variable_id}",
  operationId: "deleteVariable",
  status: 204,
  resource: true,
  scope: "variables:write",
  request: () => ({ params: VariableParams() }),
});

const reveal = operation({
  method: "get",
  path: "/v1/variables/{variable_id}/value",
  operationId: "revealVariable",
  present: (value: string) => ({ value }),
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: VariableParams() }),
});

export const variableRoutes = createRouter<Documented>()
  .handle(get, ({ ctx, params }) => getVariable(ctx, params.variable_id))
  .handle(replace, ({ ctx, params, body }) =>
    replaceVariable(ctx, params.variable_id, toVariableInput(body)),
  )
  .handle(remove, ({ ctx, params }) => deleteVariable(ctx, params.variable_id))
  .handle(reveal, ({ ctx, params }) => revealVariable(ctx, params.variable_id));
