import * as zod from "zod/v4";

/**
 * Replaces the package `zod` in the bundle (see [alias] in wrangler.toml). @hono/zod-openapi uses `z`
 * as a value, so the bundler would keep all of zod: 64 KB gzip more, for forty languages among others.
 */
export const z = {
  array: zod.array,
  boolean: zod.boolean,
  custom: zod.custom,
  email: zod.email,
  enum: zod.enum,
  int: zod.int,
  iso: zod.iso,
  literal: zod.literal,
  looseObject: zod.looseObject,
  null: zod.null,
  object: zod.object,
  record: zod.record,
  strictObject: zod.strictObject,
  string: zod.string,
  union: zod.union,
  unknown: zod.unknown,
  url: zod.url,
  ZodObject: zod.ZodObject,
  ZodType: zod.ZodType,
};
