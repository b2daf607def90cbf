import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Kind, Name } from "./schemas.ts";

export const Component = component("Component", () =>
  z
    .object({
      id: identifierOf("component", "The component's own ID."),
      project_id: identifierOf("project", "The project that the environment belongs to."),
      environment_id: identifierOf("environment", "The environment that the component is in."),
      name: Name(),
      kind: Kind(),
      created_at: timestampOf("When the component was created."),
      updated_at: timestampOf("When the component last changed."),
    })
    .openapi({ description: "A part of the app in one environment. It has variables." }),
);

export const ComponentList = envelopeOf(Component, "ComponentList");
