import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { Identifier, Timestamp } from "../../lib/schemas.ts";
import { STORAGE_METHODS } from "./model.ts";

const VALUE_BYTES = LIMITS.variableValueBytes.value;
const NAME_LENGTH = LIMITS.variableNameLength.value;
const MAXIMUM_BULK = LIMITS.writtenVariables.value;

const Name = z
  .string()
  .max(NAME_LENGTH, `Send at most ${NAME_LENGTH} characters.`)
  .regex(/^[A-Za-z_][\w]*$/, "Send letters, digits and _, not beginning with a digit.")
  .openapi({ description: "Unique in the component or environment.", example: "DATABASE_URL" });

export const StorageMethod = z.enum(STORAGE_METHODS).openapi("StorageMethod", {
  description:
    "How runners store the value at the provider: as a secret, as an encrypted parameter, or as " +
    "plain text. The service itself stores every value encrypted.",
});

/** The messages never contain the value, which is a secret. */
const Value = z
  .string()
  .refine((value) => value.isWellFormed(), "Send a text without lone surrogates.")
  .refine(
    (value) => new TextEncoder().encode(value).byteLength <= VALUE_BYTES,
    `Send at most ${VALUE_BYTES} bytes of UTF-8.`,
  )
  .openapi({
    description: "The plain text, at most 32 KiB of UTF-8.",
    example: "postgres://app@db/shop",
  });

export const Variable = z
  .object({
    id: Identifier,
    component_id: Identifier.optional().openapi({
      description:
        "The component of the variable. Absent: the variable belongs to the environment itself.",
    }),
    environment_id: Identifier,
    name: Name,
    resource_id: z.string().openapi({
      description:
        "The path of the value at the provider: project, environment, component if any, and the " +
        "original name. It never changes.",
      example: "/1C4dSLTQ9wKmCkmG3EtMZp/1C4dSLTQ9wKmCkmG3EtMZq/DATABASE_URL",
    }),
    storage_method: StorageMethod,
    version: z.int().min(1).openapi({ description: "Increases by one with every replacement." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Variable");

export const VariableList = envelopeOf(Variable, "VariableList");

export const VariableValue = z
  .object({ value: z.string().openapi({ example: "postgres://app@db/shop" }) })
  .openapi("VariableValue");

const VariableFields = z.strictObject({
  name: Name,
  storage_method: StorageMethod,
  value: Value,
});

const EXAMPLE = { name: "DATABASE_URL", storage_method: "secret", value: "postgres://app@db/shop" };

export const VariableInput = VariableFields.openapi("VariableInput", { example: EXAMPLE });

export const PutVariables = z
  .strictObject({
    mode: z.enum(["merge", "replace"]).openapi({
      description:
        "`merge` keeps the variables that the request does not name; `replace` deletes them.",
    }),
    variables: z
      .array(VariableInput)
      .max(MAXIMUM_BULK, `Send at most ${MAXIMUM_BULK} variables.`)
      .superRefine(refuseRepeatedNames),
  })
  .openapi("PutVariables", {
    example: {
      mode: "merge",
      variables: [EXAMPLE, { name: "LOG_LEVEL", storage_method: "string", value: "info" }],
    },
  });

export const VariableParams = z.object(idParam("variable_id", "variable"));

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
