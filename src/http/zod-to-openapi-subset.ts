/**
 * Replaces the package in the bundle (see [alias] in wrangler.toml), where @hono/zod-openapi has nothing to
 * describe: the OpenAPI document is made at the build, and the apps of the Worker register no route.
 */
export function extendZodWithOpenApi({ ZodType }: { ZodType: { prototype: object } }): void {
  Object.assign(ZodType.prototype, { openapi: keep });
}

function keep<Schema>(this: Schema): Schema {
  return this;
}

export class OpenAPIRegistry {
  readonly definitions: readonly never[] = [];
}

class NoGenerator {
  constructor() {
    throw new Error("The OpenAPI document is made at the build.");
  }
}

export {
  NoGenerator as OpenApiGeneratorV3,
  NoGenerator as OpenApiGeneratorV31,
  NoGenerator as getOpenApiMetadata,
};
