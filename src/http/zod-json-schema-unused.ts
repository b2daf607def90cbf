/** Stands in for what zod makes JSON Schema with: see [alias] in wrangler.toml. */
function unused(): never {
  throw new Error("This part of zod is left out of the bundle");
}

/** Asked for with every schema that is made, and called for none. */
const unusedMethod = () => unused;

export {
  unused as anyProcessor,
  unused as arrayProcessor,
  unused as bigintProcessor,
  unused as booleanProcessor,
  unused as catchProcessor,
  unused as customProcessor,
  unused as dateProcessor,
  unused as defaultProcessor,
  unused as enumProcessor,
  unused as fileProcessor,
  unused as functionProcessor,
  unused as intersectionProcessor,
  unused as lazyProcessor,
  unused as literalProcessor,
  unused as mapProcessor,
  unused as nanProcessor,
  unused as neverProcessor,
  unused as nonoptionalProcessor,
  unused as nullProcessor,
  unused as nullableProcessor,
  unused as numberProcessor,
  unused as objectProcessor,
  unused as optionalProcessor,
  unused as pipeProcessor,
  unused as prefaultProcessor,
  unused as promiseProcessor,
  unused as readonlyProcessor,
  unused as recordProcessor,
  unused as setProcessor,
  unused as stringProcessor,
  unused as successProcessor,
  unused as symbolProcessor,
  unused as templateLiteralProcessor,
  unused as transformProcessor,
  unused as tupleProcessor,
  unused as undefinedProcessor,
  unused as unionProcessor,
  unused as unknownProcessor,
  unused as voidProcessor,
  unused as extractDefs,
  unused as finalize,
  unused as handleUnrepresentable,
  unused as initializeContext,
  unused as process,
  unused as processSchema,
  unused as toJSONSchema,
  unusedMethod as createStandardJSONSchemaMethod,
  unusedMethod as createToJSONSchemaMethod,
};

export class JSONSchemaGenerator {}
export const allProcessors = {};
// The schemas' own properties are read off their checks with it: those, the OpenAPI document needs.
export { aggregateChecks } from "../../node_modules/zod/v4/core/json-schema-processors.js";
