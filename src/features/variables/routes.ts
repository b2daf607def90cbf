import { createRoute } from "@hono/zod-openapi";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  NO_CONTENT,
} from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentVariable, toVariableInput } from "./presenters.ts";
import { Variable, VariableInput, VariableParams, VariableValue } from "./schemas.ts";
import { deleteVariable, getVariable, replaceVariable, revealVariable } from "./service.ts";

const get = createRoute({
  method: "get",
  path: "/v1/variables/{variable_id}",
  operationId: "getVariable",
  tags: ["Variables"],
  summary: "Read a variable",
  description: `${NEEDS.viewer} The value has a separate path.`,
  security: API_KEY,
  request: { params: VariableParams },
  responses: { 200: jsonReply(Variable, "The variable."), ...ERROR_REPLIES },
});

const replace = createRoute({
  method: "put",
  path: "/v1/variables/{variable_id}",
  operationId: "replaceVariable",
  tags: ["Variables"],
  summary: "Replace a variable",
  description: `${NEEDS.contributor} Increments the version. The \`resource_id\` never changes.`,
  security: API_KEY,
  request: { params: VariableParams, body: jsonBody(VariableInput) },
  responses: { 200: jsonReply(Variable, "The variable."), ...ERROR_REPLIES },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/variables/{variable_id}",
  operationId: "deleteVariable",
  tags: ["Variables"],
  summary: "Delete a variable",
  description: NEEDS.contributor,
  security: API_KEY,
  request: { params: VariableParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
});

const reveal = createRoute({
  method: "get",
  path: "/v1/variables/{variable_id}/value",
  operationId: "revealVariable",
  tags: ["Variables"],
  summary: "Reveal the value of a variable",
  description: `${NEEDS.contributor} Writes an audit record of every read.`,
  security: API_KEY,
  "x-ratelimit-policy": "reveal",
  "x-writes": true,
  request: { params: VariableParams },
  responses: { 200: jsonReply(VariableValue, "The decrypted value."), ...ERROR_REPLIES },
});

export const variableRoutes = createRouter()
  .openapi(get, async (c) => {
    const variable = await getVariable(c.env, c.req.valid("param").variable_id);
    return c.json(presentVariable(variable), 200);
  })
  .openapi(replace, async (c) => {
    const { variable_id } = c.req.valid("param");
    const input = toVariableInput(c.req.valid("json"));
    return c.json(presentVariable(await replaceVariable(c.env, variable_id, input)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteVariable(c.env, c.req.valid("param").variable_id);
    return c.body(null, 204);
  })
  .openapi(reveal, async (c) => {
    const value = await revealVariable(c.env, c.req.valid("param").variable_id);
    return c.json({ value }, 200);
  });
