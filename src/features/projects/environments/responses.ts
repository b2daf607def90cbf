import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Configuration, Name } from "./schemas.ts";

export const Environment = component("Environment", () =>
  z
    .object({
      id: identifierOf("environment", "The environment's own ID."),
      project_id: identifierOf("project", "The project that the environment belongs to."),
      name: Name(),
      configuration: Configuration(),
      position: z
        .number()
        .int()
        .optional()
        .openapi({
          description:
            "Its place in the order of the project's environments, from 1. Deleted ones leave gaps. Absent if it is newer " +
            "than the order: those come last, the oldest first.",
          example: 2,
        }),
      created_at: timestampOf("When the environment was created."),
      updated_at: timestampOf("When the name or the configuration last changed."),
    })
    .openapi({ description: "A place that a project runs in, such as production or staging." }),
);

export const EnvironmentList = envelopeOf(Environment, "EnvironmentList");
