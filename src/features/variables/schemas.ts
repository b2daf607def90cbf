import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { component, identifierOf, timestampOf } from "../../lib/schemas.ts";
import { STORAGE_METHODS } from "./model.ts";

const VALUE_BYTES = LIMITS.variableValueBytes.value;
const NAME_LENGTH = LIMITS.variableNameLength.value;
const MAXIMUM_BULK = LIMITS.writtenVariables.value;
const EXAMPLE_VALUE = "postgres://app@db/shop";

const Name = lazy(() =>
  z
    .string()
    .max(NAME_LENGTH, `Send at most ${NAME_LENGTH} characters.`)
    .regex(/^[A-Za-z_][\w]*$/, "Send letters, digits and _, not beginning with a digit.")
    .openapi({ description: "Unique in the component or environment.", example: "DATABASE_URL" }),
);

const StorageMethod = component("StorageMethod", () =>
  z.enum(STORAGE_METHODS).openapi({
    description:
      "How runners store the value at the provider: as a secret, as an encrypted parameter, or as " +
      "plain text. The service itself stores every value encrypted.",
  }),
);

/** The messages never contain the value, which is a secret. */
const Value = lazy(() =>
  z
    .string()
    .refine((value) => value.isWellFormed(), "Send a text without lone surrogates.")
    .refine(
      (value) => new TextEncoder().encode(value).byteLength <= VALUE_BYTES,
      `Send at most ${VALUE_BYTES} bytes of UTF-8.`,
    )
    .openapi({ description: "The plain text, at most 32 KiB of UTF-8.", example: EXAMPLE_VALUE }),
);

const componentId = lazy(() =>
  identifierOf(
    "component",
    "The component of the variable. Absent: the variable belongs to the environment itself.",
  ).optional(),
);

const environmentId = lazy(() =>
  identifierOf("environment", "The environment, also that of the component."),
);

const resourceId = lazy(() =>
  z.string().openapi({
    description:
      "The path of the value at the provider: project, environment, component if any, and the " +
      "original name. It never changes.",
    example: `/${EXAMPLE_IDS.project}/${EXAMPLE_IDS.environment}/${EXAMPLE_IDS.component}/DATABASE_URL`,
  }),
);

const VARIABLE = lazy(() => ({
  id: identifierOf("variable", "The variable's own ID."),
  component_id: componentId(),
  environment_id: environmentId(),
  name: Name(),
  resource_id: resourceId(),
  storage_method: StorageMethod(),
  version: z.int().min(1).openapi({
    description: "Increases by one with every replacement.",
    example: 1,
  }),
  created_at: timestampOf("When the variable was created."),
  updated_at: timestampOf("When the variable was last replaced."),
}));

export const Variable = component("Variable", () =>
  z
    .object(VARIABLE())
    .openapi({ description: "A setting of a component or an environment, without its value." }),
);

const decrypted = lazy(() =>
  z.string().openapi({
    description: "The plain text, decrypted for this response.",
    example: EXAMPLE_VALUE,
  }),
);

/** The fields of a variable that runners receive. */
export const DELIVERED_VARIABLE = lazy(() => ({
  name: z.string().openapi({ description: "What the app reads.", example: "DATABASE_URL" }),
  storage_method: StorageMethod(),
  resource_id: resourceId(),
  environment_id: environmentId(),
  component_id: componentId(),
  value: decrypted(),
}));

export const VariableList = envelopeOf(Variable, "VariableList");

export const VariableValue = component("VariableValue", () =>
  z.object({ value: decrypted() }).openapi({ description: "The current value of one variable." }),
);

const RevealedVariable = component("RevealedVariable", () =>
  z
    .object({ ...VARIABLE(), value: decrypted() })
    .openapi({ description: "A setting of a component or an environment, with its value." }),
);

export const RevealedVariableList = envelopeOf(RevealedVariable, "RevealedVariableList");

const EXAMPLE = { name: "DATABASE_URL", storage_method: "secret", value: EXAMPLE_VALUE };

export const VariableInput = component("VariableInput", () =>
  z.strictObject({ name: Name(), storage_method: StorageMethod(), value: Value() }).openapi({
    description: "All fields of a variable that a request can set.",
    example: EXAMPLE,
  }),
);

const WriteMode = component("VariablesWriteMode", () =>
  z.enum(["merge", "replace"]).openapi({
    description:
      "`merge` keeps the variables that the request does not name; `replace` deletes them.",
  }),
);

export const PutVariables = component("PutVariables", () =>
  z
    .strictObject({
      mode: WriteMode(),
      variables: z
        .array(VariableInput())
        .max(MAXIMUM_BULK, `Send at most ${MAXIMUM_BULK} variables.`)
        .superRefine(refuseRepeatedNames)
        .openapi({ description: "The variables to create or replace, each name once." }),
    })
    .openapi({
      description: "Many variables to write at once.",
      example: {
        mode: "merge",
        variables: [EXAMPLE, { name: "LOG_LEVEL", storage_method: "string", value: "info" }],
      },
    }),
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
