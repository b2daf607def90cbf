import { z } from "@hono/zod-openapi";
import { canonicalId, IDENTIFIER_PATTERN } from "./ids.ts";
import { LIMITS } from "./limits.ts";

export const EXAMPLE_ID = "1C4dSLTQ9wKmCkmG3EtMZp";

export const Identifier = z.string().openapi("Identifier", {
  description: "An identifier in its 22-character form.",
  pattern: "^[1-9A-HJ-NP-Za-km-z]{22}$",
  example: EXAMPLE_ID,
});

export const IdentifierInput = z
  .string()
  .regex(
    IDENTIFIER_PATTERN,
    "Send an identifier: 22 characters of base58, a lowercase UUID, or 32 lowercase hex digits.",
  )
  .transform((text) => canonicalId(text) ?? text)
  .openapi({ example: EXAMPLE_ID });

export const Timestamp = z.string().openapi("Timestamp", {
  description: "RFC 3339, in UTC with milliseconds.",
  format: "date-time",
  example: "2026-11-21T09:30:00.000Z",
});

const EARLIEST = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");
const TIMESTAMP =
  "Send an RFC 3339 date-time with seconds and an offset, within the years 0001 to 9999 in UTC, " +
  "as 2027-01-31T00:00:00Z.";

/** A timestamp in a request. Checks the year in UTC, because an offset can move it out of range. */
export function timestampInput() {
  return z.iso.datetime({ offset: true, error: TIMESTAMP, abort: true }).refine((value) => {
    const time = Date.parse(value);
    return /:\d\d:\d\d/.test(value) && time >= EARLIEST && time <= LATEST;
  }, TIMESTAMP);
}

const NOT_BLANK = "Send a text that is not blank.";

export function text(maximum: number) {
  return (
    line(maximum)
      // Aborts, so that an empty text has one issue and not two.
      .min(1, { error: NOT_BLANK, abort: true })
      .refine((value) => value.trim() !== "", NOT_BLANK)
  );
}

export function line(maximum: number) {
  return z
    .string()
    .max(maximum, `Send at most ${maximum} characters.`)
    .refine((value) => value.isWellFormed(), "Send a text without lone surrogates.")
    .refine((value) => !/\p{Cc}/u.test(value), "Send a text without control characters.");
}

export function paragraphs(maximum: number) {
  return z
    .string()
    .max(maximum, `Send at most ${maximum} characters.`)
    .refine((value) => value.isWellFormed(), "Send a text without lone surrogates.")
    .refine((value) => !/[^\P{Cc}\r\n\t]/u.test(value), "Send a text without control characters.");
}

/** Absent and `null` both mean that the record has no value. */
export function clearable<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? null);
}

/** Several values are repeated (`?a=x&a=y`), or separated by commas. */
export function enumFilter<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((sent) => [...new Set([sent].flat().flatMap((each) => each.split(",")))])
    .pipe(z.array(z.enum(values)))
    .optional()
    .openapi({ type: "array", items: { type: "string", enum: [...values] } });
}

export function slug() {
  const maximum = LIMITS.slugLength.value;
  const message = `Send 1 to ${maximum} characters out of a-z, 0-9 and -.`;
  return z.string().regex(new RegExp(`^[a-z0-9-]{1,${maximum}}$`), message);
}
