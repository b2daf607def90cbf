import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Name } from "./schemas.ts";

export const StackOutputs = component("StackOutputs", () =>
  z.record(z.string(), z.string()).openapi({
    description:
      "The outputs of the last success, by name. They are not secret. Absent: it had none.",
    example: { url: "https://shop.example.com" },
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
      outputs: StackOutputs().optional(),
      created_at: timestampOf("When the stack was created."),
      updated_at: timestampOf("When the name or the component last changed."),
    })
    .openapi({ description: "A group of resources at the provider that is deployed as a unit." }),
);

export const StackList = envelopeOf(Stack, "StackList");
