import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam } from "../../../http/params.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { component } from "../../../lib/schemas.ts";
import { LONE_SURROGATES } from "../../../lib/text-patterns.ts";
import { STORAGE_METHODS } from "./model.ts";

const VALUE_BYTES = LIMITS.variableValueBytes.value;
const NAME_LENGTH = LIMITS.variableNameLength.value;
const MAXIMUM_BULK = LIMITS.writtenVariables.value;
export const EXAMPLE_VALUE = "postgres://app@db/shop";

export const Name = lazy(() =>
  z
    .string()
    .max(NAME_LENGTH, `Send at most ${NAME_LENGTH} characters.`)
    .regex(/^[A-Za-z_][\w]*$/, "Send letters, digits and _, not beginning with a digit.")
    .openapi(
      documented(() => ({
        description: "Unique in the component or environment.",
        example: "DATABASE_URL",
      })),
    ),
);

export const StorageMethod = component("StorageMethod", () =>
  z.enum(STORAGE_METHODS).openapi(
    documented(() => ({
      description:
        "How runners store the value at the provider: as a secret, as an encrypted parameter, or as " +
        "plain text. The service itself stores every value encrypted.",
    })),
  ),
);

const NO_NULL = "Send a value without NUL characters, which no program can get.";

/** The messages never contain the value, which is a secret. */
const Value = lazy(() =>
  z
    .string()
    .refine((value) => value.isWellFormed(), LONE_SURROGATES)
    .refine((value) => !/\0/.test(value), NO_NULL)
    .refine((value) => bytesOf(value) <= VALUE_BYTES, `Send at most ${VALUE_BYTES} bytes of UTF-8.`)
    .openapi(
      documented(() => ({
        description: `The plain text, at most ${sizeOf(VALUE_BYTES)} of UTF-8, without NUL characters.`,
        example: EXAMPLE_VALUE,
      })),
    ),
);

const EXAMPLE = documented(() => ({
  name: "DATABASE_URL",
  storage_method: "secret",
  value: EXAMPLE_VALUE,
}));

export const VariableInput = component("VariableInput", () =>
  z.strictObject({ name: Name(), storage_method: StorageMethod(), value: Value() }).openapi(
    documented(() => ({
      description: "All fields of a variable that a request can set.",
      example: EXAMPLE,
    })),
  ),
);

const WriteMode = component("VariablesWriteMode", () =>
  z.enum(["merge", "replace"]).openapi(
    documented(() => ({
      description:
        "`merge` keeps the variables that the request does not name; `replace` deletes them.",
    })),
  ),
);

export const PutVariables = component("PutVariables", () =>
  z
    .strictObject({
      mode: WriteMode(),
      variables: z
        .array(VariableInput())
        .max(MAXIMUM_BULK, `Send at most ${MAXIMUM_BULK} variables.`)
        .superRefine(refuseRepeatedNames)
        .openapi(
          documented(() => ({
            description: "The variables to create or replace, each name once.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "Many variables to write at once.",
        example: {
          mode: "merge",
          variables: [EXAMPLE, { name: "LOG_LEVEL", storage_method: "string", value: "info" }],
        },
      })),
    ),
);

export const VariableParams = lazy(() => z.object(idParam("variable_id", "variable", "variable")));

function refuseRepeatedNames(variables: readonly { name: string }[], ctx: z.RefinementCtx): void {
  const seen = new Set<string>();
  variables.forEach(({ name }, index) => {
    if (seen.has(name)) {
      const message = "Send each name only once.";
      ctx.addIssue({ code: "custom", path: [index, "name"], message });
    }
    seen.add(name);
  });
}
