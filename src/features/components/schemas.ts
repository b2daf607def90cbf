import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { lazy } from "../../lib/lazy.ts";
import { component, identifierOf, slug, timestampOf } from "../../lib/schemas.ts";
import { COMPONENT_KINDS } from "./model.ts";

const Name = lazy(() =>
  slug().openapi({ description: "Unique in the environment.", example: "api" }),
);

const Kind = component("ComponentKind", () =>
  z.enum(COMPONENT_KINDS).openapi({
    description:
      "A web service, a background worker, a job that runs to completion, or a static site.",
  }),
);

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

export const ComponentInput = component("ComponentInput", () =>
  z.strictObject({ name: Name(), kind: Kind() }).openapi({
    description: "All fields of a component that a request can set.",
    example: { name: "api", kind: "service" },
  }),
);

export const UpdateComponent = component("UpdateComponent", () =>
  z.strictObject({ name: Name().optional(), kind: Kind().optional() }).openapi({
    description: "The fields to change. The others stay as they are.",
    example: { name: "worker", kind: "worker" },
  }),
);
