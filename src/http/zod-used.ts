/**
 * Replaces zod's `external.js` (see [alias] in wrangler.toml) with the exports that are used. The
 * bundler cannot drop the others, because zod exports the namespace `z` as a value.
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
