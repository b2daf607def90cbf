import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { CHANGED_FIELDS, identifierOf, slug, timestampOf } from "../../../lib/schemas.ts";
import { COMPONENT_KINDS } from "../../tenancy/model.ts";

export const Name = slug().openapi({ description: "Unique in the environment.", example: "api" });

export const Kind = z.enum(COMPONENT_KINDS).openapi("ComponentKind", {
  description:
    "A web service, a background worker, a job that runs to completion, or a static site.",
});

export const ComponentInput = z.strictObject({ name: Name, kind: Kind }).openapi("ComponentInput", {
  description: "All fields of a component that a request can set.",
  example: { name: "api", kind: "service" },
});

export const UpdateComponent = z
  .strictObject({ name: Name.optional(), kind: Kind.optional() })
  .openapi("UpdateComponent", {
    description: CHANGED_FIELDS,
    example: { name: "worker", kind: "worker" },
  });

export const Component = z
  .object({
    id: identifierOf("component", "The component's own ID."),
    project_id: identifierOf("project", "The project that the environment belongs to."),
    environment_id: identifierOf("environment", "The environment that the component is in."),
    name: Name,
    kind: Kind,
    created_at: timestampOf("When the component was created."),
    updated_at: timestampOf("When the component last changed."),
  })
  .openapi("Component", { description: "A part of the app in one environment. It has variables." });

export const ComponentList = envelopeOf(Component, "ComponentList");
