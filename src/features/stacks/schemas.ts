import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { textParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  clearable,
  component,
  identifierInput,
  identifierOf,
  text,
  timestampOf,
} from "../../lib/schemas.ts";

const Name = lazy(() =>
  text(LIMITS.stackNameLength.value).openapi({
    description: "Unique in the environment, for example the stack's name at the provider.",
    example: "api-production",
  }),
);

export const Stack = component("Stack", () =>
  z
    .object({
      id: identifierOf("stack", "The stack's own ID in this service."),
      project_id: identifierOf("project", "The project that the environment belongs to."),
      environment_id: identifierOf("environment", "The environment that the stack belongs to."),
      component_id: identifierOf(
        "component",
        "The component that the stack runs. Absent: it runs no single component.",
      ).optional(),
      name: Name(),
      created_at: timestampOf("When the stack was created."),
      updated_at: timestampOf("When the name or the component last changed."),
    })
    .openapi({ description: "A group of resources at the provider that is deployed as a unit." }),
);

export const StackList = envelopeOf(Stack, "StackList");

export const StackInput = component("StackInput", () =>
  z
    .strictObject({
      name: Name(),
      component_id: clearable(identifierInput("component")).openapi({
        description: "A component of the environment. Absent or null: no component.",
      }),
    })
    .openapi({
      description: "All fields of a stack that a request can set.",
      example: { name: "api-production", component_id: EXAMPLE_IDS.component },
    }),
);

export const UpdateStack = component("UpdateStack", () =>
  z
    .strictObject({
      name: Name().optional(),
      component_id: identifierInput("component").nullable().optional().openapi({
        description: "A component of the environment. Null: no component.",
      }),
    })
    .openapi({
      description: "The fields to change. The others stay as they are.",
      example: { name: "api-production-eu" },
    }),
);

export const StackParams = lazy(() => z.object(textParam("stack_id", "stack", "stack")));
