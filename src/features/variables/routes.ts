import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { createRouter } from "../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentVariable, toVariableInput } from "./presenters.ts";
import { VariableInput, VariableParams } from "./schemas.ts";
import { deleteVariable, getVariable, replaceVariable, revealVariable } from "./service.ts";

export const get = operation({
  method: "get",
  path: "/v1/variables/{variable_id}",
  operationId: "getVariable",
  record: true,
  scope: "variables:read",
  request: () => ({ params: VariableParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/variables/{variable_id}",
  operationId: "replaceVariable",
  record: true,
  scope: "variables:write",
  request: () => ({ params: VariableParams(), body: jsonBody(VariableInput()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/variables/{variable_id}",
  operationId: "deleteVariable",
  status: 204,
  record: true,
  scope: "variables:write",
  request: () => ({ params: VariableParams() }),
});

const reveal = operation({
  method: "get",
  path: "/v1/variables/{variable_id}/value",
  operationId: "revealVariable",
  scope: "variables:reveal",
  policy: "reveal",
  writes: true,
  request: () => ({ params: VariableParams() }),
});

export const variableRoutes = createRouter<Documented>()
  .openapi(get, async (c) => {
    const variable = await getVariable(c.env, c.req.valid("param").variable_id);
    return jsonWithTag(c, variable.version, presentVariable(variable), 200);
  })
  .openapi(replace, async (c) => {
    const { variable_id } = c.req.valid("param");
    const input = toVariableInput(c.req.valid("json"));
    const variable = await replaceVariable(c.env, variable_id, input);
    return jsonWithTag(c, variable.version, presentVariable(variable), 200);
  })
  .openapi(remove, async (c) => {
    await deleteVariable(c.env, c.req.valid("param").variable_id);
    return c.body(null, 204);
  })
  .openapi(reveal, async (c) => {
    const value = await revealVariable(c.env, c.req.valid("param").variable_id);
    return c.json({ value }, 200);
  });
