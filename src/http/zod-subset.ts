import * as zod from "zod/v4";

/**
 * Replaces the package `zod` in the bundle (see [alias] in wrangler.toml). @hono/zod-openapi uses `z`
 * as a value, so the bundler would keep all of zod: 64 KB gzip more, for forty languages among others.
 */
export const z = {
  array: zod.array,
  boolean: zod.boolean,
  custom: zod.custom,
  discriminatedUnion: zod.discriminatedUnion,
  email: zod.email,
  enum: zod.enum,
  int: zod.int,
  iso: { datetime: zod.iso.datetime },
  literal: zod.literal,
  null: zod.null,
  object: zod.object,
  strictObject: zod.strictObject,
  string: zod.string,
  union: zod.union,
  unknown: zod.unknown,
  ZodObject: zod.ZodObject,
  ZodType: zod.ZodType,
};
