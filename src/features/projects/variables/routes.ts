import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { done, json, noContent, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { COUNTED, NAME_TAKEN, RESOURCE_ID_TAKEN } from "./model.ts";
import { presentVariable, toVariableInput } from "./presenters.ts";
import { Variable, VariableInput, VariableParams, VariableValue } from "./schemas.ts";
import { deleteVariable, getVariable, replaceVariable, revealVariable } from "./service.ts";

const VALUE_BYTES = new LimitReached(LIMITS.variableBytesOfEnvironment.value, COUNTED.bytes);

export const get = apiRoute({
  method: "get",
  path: "/v1/variables/{variable_id}",
  operationId: "getVariable",
  tags: ["Variables"],
  summary: "Read a variable",
  description: `The value has a separate path.`,
  access: { scope: "variables:read", role: "viewer" },
  resource: true,
  request: { params: VariableParams },
  responses: { 200: json(Variable, "The variable.") },
  notFound: ["variable"],
});

const replace = apiRoute({
  method: "put",
  path: "/v1/variables/{variable_id}",
  operationId: "replaceVariable",
  tags: ["Variables"],
  summary: "Replace a variable",
  description: `Increases the version by one, and keeps the \`resource_id\`.`,
  access: { scope: "variables:write", role: "contributor" },
  resource: true,
  changes: ["variables"],
  request: { params: VariableParams, body: jsonBody(VariableInput) },
  responses: { 200: json(Variable, "The variable.") },
  notFound: ["variable"],
  errors: {
    variable_name_taken: NAME_TAKEN,
    resource_id_taken: RESOURCE_ID_TAKEN,
    value_bytes_limit: VALUE_BYTES,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/variables/{variable_id}",
  operationId: "deleteVariable",
  tags: ["Variables"],
  summary: "Delete a variable",
  access: { scope: "variables:write", role: "contributor" },
  resource: true,
  changes: ["variables"],
  request: { params: VariableParams },
  responses: { 204: noContent },
  notFound: ["variable"],
});

const reveal = apiRoute({
  method: "get",
  path: "/v1/variables/{variable_id}/value",
  operationId: "revealVariable",
  tags: ["Variables"],
  summary: "Reveal the value of a variable",
  description: `The audit log records every read of a value.`,
  access: { scope: "variables:reveal", role: "contributor" },
  policy: "reveal",
  writes: true,
  request: { params: VariableParams },
  responses: { 200: json(VariableValue, "The decrypted value.") },
  notFound: ["variable"],
});

export const variableRoutes = createRouter()
  .openapi(get, (c) =>
    ok(c, (ctx) => getVariable(ctx, c.req.valid("param").variable_id), presentVariable),
  )
  .openapi(replace, (c) =>
    ok(
      c,
      (ctx) =>
        replaceVariable(
          ctx,
          c.req.valid("param").variable_id,
          toVariableInput(c.req.valid("json")),
        ),
      presentVariable,
    ),
  )
  .openapi(remove, (c) => done(c, (ctx) => deleteVariable(ctx, c.req.valid("param").variable_id)))
  .openapi(reveal, (c) =>
    ok(
      c,
      (ctx) => revealVariable(ctx, c.req.valid("param").variable_id),
      (value: string) => ({ value }),
    ),
  );
