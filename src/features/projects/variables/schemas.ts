import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { LONE_SURROGATES } from "../../../lib/text-patterns.ts";
import { STORAGE_METHODS } from "./model.ts";

const VALUE_BYTES = LIMITS.variableValueBytes.value;
const NAME_LENGTH = LIMITS.variableNameLength.value;
const MAXIMUM_BULK = LIMITS.writtenVariables.value;
export const EXAMPLE_VALUE = "postgres://app@db/shop";

export const Name = z
  .string()
  .max(NAME_LENGTH, `Send at most ${NAME_LENGTH} characters.`)
  .regex(/^[A-Za-z_][\w]*$/, "Send letters, digits and _, not beginning with a digit.")
  .openapi({
    description: "Unique in the component or environment.",
    example: "DATABASE_URL",
  });

export const StorageMethod = z.enum(STORAGE_METHODS).openapi("StorageMethod", {
  description:
    "How runners store the value at the provider: as a secret, as an encrypted parameter, or as " +
    "plain text. The service itself stores every value encrypted.",
});

const NO_NULL = "Send a value without NUL characters, which no program can get.";

/** The messages never contain the value, which is a secret. */
const Value = z
  .string()
  .refine((value) => value.isWellFormed(), LONE_SURROGATES)
  .refine((value) => !/\0/.test(value), NO_NULL)
  .refine((value) => bytesOf(value) <= VALUE_BYTES, `Send at most ${VALUE_BYTES} bytes of UTF-8.`)
  .openapi({
    description: `The plain text, at most ${sizeOf(VALUE_BYTES)} of UTF-8, without NUL characters.`,
    example: EXAMPLE_VALUE,
  });

const EXAMPLE = {
  name: "DATABASE_URL",
  storage_method: "secret",
  value: EXAMPLE_VALUE,
};

export const VariableInput = z
  .strictObject({ name: Name, storage_method: StorageMethod, value: Value })
  .openapi("VariableInput", {
    description: "All fields of a variable that a request can set.",
    example: EXAMPLE,
  });

const WriteMode = z.enum(["merge", "replace"]).openapi("VariablesWriteMode", {
  description:
    "`merge` keeps the variables that the request does not name; `replace` deletes them.",
});

export const PutVariables = z
  .strictObject({
    mode: WriteMode,
    variables: z
      .array(VariableInput)
      .max(MAXIMUM_BULK, `Send at most ${MAXIMUM_BULK} variables.`)
      .superRefine(refuseRepeatedNames)
      .openapi({
        description: "The variables to create or replace, each name once.",
      }),
  })
  .openapi("PutVariables", {
    description: "Many variables to write at once.",
    example: {
      mode: "merge",
      variables: [EXAMPLE, { name: "LOG_LEVEL", storage_method: "string", value: "info" }],
    },
  });

export const VariableParams = z.object(idParam("variable_id", "variable", "variable"));

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

const componentId = identifierOf(
  "component",
  "The component of the variable. Absent: the variable belongs to the environment itself.",
).optional();

const environmentId = identifierOf("environment", "The environment, also that of the component.");

const resourceId = z.string().openapi({
  description:
    "The path of the value at the provider: project, environment, component if any, and the " +
    "original name. It never changes.",
  example: `/${EXAMPLE_IDS.project}/${EXAMPLE_IDS.environment}/${EXAMPLE_IDS.component}/DATABASE_URL`,
});

const VARIABLE = {
  id: identifierOf("variable", "The variable's own ID."),
  component_id: componentId,
  environment_id: environmentId,
  name: Name,
  resource_id: resourceId,
  storage_method: StorageMethod,
  version: z.int().min(1).openapi({
    description: "Increases by one with every replacement.",
    example: 1,
  }),
  created_at: timestampOf("When the variable was created."),
  updated_at: timestampOf("When the variable was last replaced."),
  warning: z.string().optional().openapi({
    description:
      "Why a deployment with this variable may fail: the reference runner refuses its name. Absent: it accepts it.",
  }),
};

export const Variable = z.object(VARIABLE).openapi("Variable", {
  description: "A setting of a component or an environment, without its value.",
});

const decrypted = z.string().openapi({
  description: "The plain text, decrypted for this response.",
  example: EXAMPLE_VALUE,
});

/** The fields of a variable that runners receive. */
export const DELIVERED_VARIABLE = {
  name: z.string().openapi({ description: "What the app reads.", example: "DATABASE_URL" }),
  storage_method: StorageMethod,
  resource_id: resourceId,
  environment_id: environmentId,
  component_id: componentId,
  value: decrypted,
};

export const VariableList = envelopeOf(Variable, "VariableList");

export const VariableValue = z
  .object({ value: decrypted })
  .openapi("VariableValue", { description: "The current value of one variable." });

const RevealedVariable = z.object({ ...VARIABLE, value: decrypted }).openapi("RevealedVariable", {
  description: "A setting of a component or an environment, with its value.",
});

export const RevealedVariableList = envelopeOf(RevealedVariable, "RevealedVariableList");
