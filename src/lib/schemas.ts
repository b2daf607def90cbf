import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS, type ExampleKind, exampleId } from "./example-ids.ts";
import { findHidden } from "./hidden-characters.ts";
import { canonicalId, IDENTIFIER_PATTERN } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { DEPLOYMENT_TRIGGERS } from "./resource-types.ts";
import { CONTROL_CHARACTERS, LINE, LONE_SURROGATES, PARAGRAPHS, TEXT } from "./text-patterns.ts";

const Identifier = z.string().openapi("Identifier", {
  description: "An identifier in its 22-character form.",
  pattern: "^[1-9A-HJ-NP-Za-km-z]{22}$",
  example: EXAMPLE_IDS.project,
});

export function identifierOf(kind: ExampleKind, description: string) {
  return Identifier.openapi({ description, example: exampleId(kind) });
}

/** The elements of a list, which has the description. */
export function identifiersOf(kind: ExampleKind) {
  return z.array(Identifier.openapi({ example: exampleId(kind) }));
}

/** An identifier in a request, in any of its three forms. */
export function identifierInput(kind: ExampleKind) {
  return z
    .string()
    .regex(
      IDENTIFIER_PATTERN,
      "Send an identifier: 22 characters of base58, a lowercase UUID, or 32 lowercase hex digits.",
    )
    .transform((text) => canonicalId(text) ?? text)
    .openapi({ example: exampleId(kind) });
}

const Timestamp = z.string().openapi("Timestamp", {
  description: "RFC 3339, in UTC with milliseconds.",
  format: "date-time",
  example: "2026-11-21T09:30:00.000Z",
});

export function timestampOf(description: string) {
  return Timestamp.openapi({ description });
}

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

export const NOT_BLANK = "Send a text that is not blank.";

/** One line that is not blank. */
export function text(maximum: number, string = z.string()) {
  return (
    unicode(maximum, LINE, string)
      // Aborts, so that an empty text has one issue and not two.
      .min(1, { error: NOT_BLANK, abort: true })
      .refine((value) => value.trim() !== "", NOT_BLANK)
      .openapi({ pattern: TEXT.source })
  );
}

/** What people call something: in NFC and without hidden characters, which would make two names look the same. */
export function nameInput(maximum: number) {
  // The length comes first: NFC of a long text takes quadratic time.
  const string = z
    .string()
    .max(maximum, { error: tooLong(maximum), abort: true })
    .normalize();
  return text(maximum, string).superRefine((name, ctx) => {
    const hidden = findHidden(name);
    const message = `Send a name without the invisible character ${hidden}.`;
    if (hidden !== undefined) ctx.addIssue({ code: "custom", message });
  });
}

export function line(maximum: number) {
  return unicode(maximum, LINE);
}

export function paragraphs(maximum: number) {
  return unicode(maximum, PARAGRAPHS);
}

function unicode(maximum: number, pattern: RegExp, string = z.string()) {
  return string
    .max(maximum, tooLong(maximum))
    .refine((value) => value.isWellFormed(), LONE_SURROGATES)
    .refine((value) => pattern.test(value), CONTROL_CHARACTERS)
    .openapi({ pattern: pattern.source });
}

function tooLong(maximum: number): string {
  return `Send at most ${maximum} characters.`;
}

/** Describes the body of every PATCH. */
export const CHANGED_FIELDS = "The fields to change. The others stay as they are.";

/** Absent and `null` both mean that the resource has no value. */
export function clearable<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? null);
}

/** Names compare as the unique indexes compare them: byte by byte, in NFC (`isNamed`). */
export function nameFilter(maximum: number) {
  return text(maximum).optional().openapi({
    description: "Only resources with exactly this name; upper and lower case differ.",
  });
}

/**
 * Several values are repeated (`?a=x&a=y`), or separated by commas.
 * @param name The component of the enum.
 */
export function enumFilter<const Values extends readonly [string, ...string[]]>(
  name: string,
  values: Values,
) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((sent) => [...new Set([sent].flat().flatMap((each) => each.split(",")))])
    .pipe(z.array(z.enum(values)))
    .optional()
    .openapi({ type: "array", items: { $ref: `#/components/schemas/${name}` } });
}

export function slug() {
  const maximum = LIMITS.slugLength.value;
  const message = `Send 1 to ${maximum} characters out of a-z, 0-9 and -.`;
  return z.string().regex(new RegExp(`^[a-z0-9-]{1,${maximum}}$`), message);
}

export const DeploymentTrigger = z.enum(DEPLOYMENT_TRIGGERS).openapi("DeploymentTrigger", {
  description:
    "Which request created it: `api` a new one, the others copy another. `rollback`: a redeployment of a " +
    "success from before the newest deployment that had started.",
});
