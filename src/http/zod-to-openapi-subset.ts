/**
 * Replaces the package in the bundle (see [alias] in wrangler.toml). @hono/zod-openapi uses its generators as
 * values, so the bundler would keep them, although the document is made at the build.
 */
export {
  extendZodWithOpenApi,
  getOpenApiMetadata,
  OpenAPIRegistry,
} from "@asteasolutions/zod-to-openapi/dist/index.mjs";

class NoGenerator {
  constructor() {
    throw new Error("The OpenAPI document is made at the build.");
  }
}

export { NoGenerator as OpenApiGeneratorV3, NoGenerator as OpenApiGeneratorV31 };
