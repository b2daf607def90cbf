/**
 * Stands in for zod's `external.js` (see [alias] in wrangler.toml): just what is used of it. The
 * namespace `z` is handed around as a value, so that a bundler has to keep all that is in it.
 */

export * as iso from "../../node_modules/zod/v4/classic/iso.js";
export {
  array,
  boolean,
  custom,
  email,
  enum,
  int,
  literal,
  looseObject,
  object,
  record,
  strictObject,
  string,
  union,
  unknown,
  url,
  ZodType,
} from "../../node_modules/zod/v4/classic/schemas.js";
