import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { textParam } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  clearable,
  identifierInput,
  identifierOf,
  nameInput,
  timestampOf,
} from "../../../lib/schemas.ts";

export const Name = nameInput(LIMITS.stackNameLength.value).openapi({
  description: "Unique in the environment, for example the stack's name at the provider.",
  example: "api-production",
});

export const StackInput = z
  .strictObject({
    name: Name,
    component_id: clearable(identifierInput("component")).openapi({
      description: "A component of the environment. Absent or null: no component.",
    }),
  })
  .openapi("StackInput", {
    description: "All fields of a stack that a request can set.",
    example: { name: "api-production", component_id: EXAMPLE_IDS.component },
  });

export const UpdateStack = z
  .strictObject({
    name: Name.optional(),
    component_id: identifierInput("component").nullable().optional().openapi({
      description: "A component of the environment. Null: no component.",
    }),
  })
  .openapi("UpdateStack", {
    description: CHANGED_FIELDS,
    example: { name: "api-production-eu" },
  });

/** The fields of a body as the row of a stack names them. */
export function toFields<Body extends z.output<typeof UpdateStack>>(body: Body) {
  return {
    name: body.name as Body["name"],
    componentId: body.component_id as Body["component_id"],
  };
}

export const StackOrder = z
  .strictObject({
    stack_ids: z
      .array(identifierInput("stack"))
      .min(1, "Send at least one stack.")
      .max(
        LIMITS.stacksOfEnvironment.value,
        `Send at most ${LIMITS.stacksOfEnvironment.value} stacks.`,
      )
      .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.")
      .openapi({ description: "All stacks of the environment, the first to deploy first." }),
  })
  .openapi("StackOrder", {
    description: "The order in which an environment deploys its stacks.",
    example: { stack_ids: [EXAMPLE_IDS.stack] },
  });

export const StackParams = z.object(textParam("stack_id", "stack", "stack"));

export const StackOutputs = z.record(z.string(), z.string()).openapi("StackOutputs", {
  description:
    "The outputs of the last success, by name. They are not secret. Absent: it had none.",
  example: { url: "https://shop.example.com" },
});

export const Stack = z
  .object({
    id: identifierOf("stack", "The stack's own ID in this service."),
    project_id: identifierOf("project", "The project that the environment belongs to."),
    environment_id: identifierOf("environment", "The environment that the stack belongs to."),
    component_id: identifierOf(
      "component",
      "The component that the stack runs. Absent: it runs no single component.",
    ).optional(),
    name: Name,
    position: z
      .number()
      .int()
      .optional()
      .openapi({
        description:
          "Its place in the order in which the environment deploys stacks that do not need each other, from 1. Deleted " +
          "ones leave gaps. Absent if it is newer than the order: those come last, the oldest first.",
        example: 2,
      }),
    outputs: StackOutputs.optional(),
    created_at: timestampOf("When the stack was created."),
    updated_at: timestampOf("When the name or the component last changed."),
  })
  .openapi("Stack", {
    description: "A group of resources at the provider that is deployed as a unit.",
  });

export const StackList = envelopeOf(Stack, "StackList");
