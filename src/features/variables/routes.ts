import { tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { presentVariable, toVariableInput } from "./presenters.ts";
import { Variable, VariableInput, VariableParams, VariableValue } from "./schemas.ts";
import { deleteVariable, getVariable, replaceVariable, revealVariable } from "./service.ts";

export const get = operation({
  method: "get",
  path: "/v1/variables/{variable_id}",
  operationId: "getVariable",
  tags: ["Variables"],
  summary: "Read a variable",
  role: "viewer",
  record: true,
  scope: "variables:read",
  description: `The value has a separate path.`,
  notFound: ["variable"],
  request: { params: VariableParams() },
  responses: { 200: jsonReply(Variable(), "The variable.") },
});

const replace = operation({
  method: "put",
  path: "/v1/variables/{variable_id}",
  operationId: "replaceVariable",
  tags: ["Variables"],
  summary: "Replace a variable",
  role: "contributor",
  record: true,
  scope: "variables:write",
  description: `Increases the version by one, and keeps the \`resource_id\`.`,
  notFound: ["variable"],
  errors: {
    variable_name_taken: new Conflict(
      "A variable with this name already exists. Replace it, or choose another name.",
    ),
    resource_id_taken: new Conflict(
      "A renamed variable keeps the resource_id of this name. Delete it, or choose another name.",
    ),
    value_bytes_limit: new LimitReached(
      LIMITS.variableBytesOfEnvironment.value,
      "bytes of values in an environment",
    ),
  },
  request: { params: VariableParams(), body: jsonBody(VariableInput()) },
  responses: { 200: jsonReply(Variable(), "The variable.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/variables/{variable_id}",
  operationId: "deleteVariable",
  tags: ["Variables"],
  summary: "Delete a variable",
  role: "contributor",
  record: true,
  scope: "variables:write",
  notFound: ["variable"],
  request: { params: VariableParams() },
  responses: { 204: NO_CONTENT },
});

const reveal = operation({
  method: "get",
  path: "/v1/variables/{variable_id}/value",
  operationId: "revealVariable",
  tags: ["Variables"],
  summary: "Reveal the value of a variable",
  role: "contributor",
  scope: "variables:reveal",
  description: `The audit log records every read of a value.`,
  policy: "reveal",
  writes: true,
  notFound: ["variable"],
  request: { params: VariableParams() },
  responses: { 200: jsonReply(VariableValue(), "The decrypted value.") },
});

export const variableRoutes = createRouter()
  .openapi(get, async (c) => {
    const variable = await getVariable(c.env, c.req.valid("param").variable_id);
    return c.json(await tagged(c, variable.version, presentVariable(variable)), 200);
  })
  .openapi(replace, async (c) => {
    const { variable_id } = c.req.valid("param");
    const input = toVariableInput(c.req.valid("json"));
    const variable = await replaceVariable(c.env, variable_id, input);
    return c.json(await tagged(c, variable.version, presentVariable(variable)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteVariable(c.env, c.req.valid("param").variable_id);
    return c.body(null, 204);
  })
  .openapi(reveal, async (c) => {
    const value = await revealVariable(c.env, c.req.valid("param").variable_id);
    return c.json({ value }, 200);
  });
