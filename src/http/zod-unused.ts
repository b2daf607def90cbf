/** Stands in for the parts of zod that the bundle leaves out: see [alias] in wrangler.toml. */
function unused(): never {
  throw new Error("This part of zod is left out of the bundle");
}

export { unused as compile, unused as compileFn, unused as fromJSONSchema, unused as withParser };

export class ZodCompileAsyncError extends Error {}
export class ZodCompileUnsupportedError extends Error {}
export const INVALID = Symbol("zod.compile.invalid");
