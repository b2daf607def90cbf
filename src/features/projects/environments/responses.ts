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
      created_at: timestampOf("When the environment was created."),
      updated_at: timestampOf("When the name or the configuration last changed."),
    })
    .openapi({ description: "A place that a project runs in, such as production or staging." }),
);

export const EnvironmentList = envelopeOf(Environment, "EnvironmentList");
