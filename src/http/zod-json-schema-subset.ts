/**
 * Replaces in the bundle what makes JSON Schema of schemas (see [alias] in wrangler.toml): the OpenAPI document is
 * made at the build, by other code. zod's schemas name it, and the Worker never calls it.
 */
const unused = () => undefined;
export const createToJSONSchemaMethod = unused;
export const createStandardJSONSchemaMethod = unused;
export const toJSONSchema = unused;
