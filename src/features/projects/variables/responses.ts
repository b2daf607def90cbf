import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { lazy } from "../../../lib/lazy.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { EXAMPLE_VALUE, Name, StorageMethod } from "./schemas.ts";

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
  warning: z.string().optional().openapi({
    description:
      "Why a deployment with this variable may fail: the reference runner refuses its name. Absent: it accepts it.",
  }),
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
