import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { Identifier, slug, Timestamp } from "../../lib/schemas.ts";
import { COMPONENT_KINDS } from "./model.ts";

const Name = slug().openapi({ description: "Unique in the environment.", example: "api" });

const Kind = z.enum(COMPONENT_KINDS).openapi("ComponentKind", {
  description:
    "A web service, a background worker, a job that runs to completion, or a static site.",
});

export const Component = z
  .object({
    id: Identifier,
    project_id: Identifier,
    environment_id: Identifier,
    name: Name,
    kind: Kind,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Component");

export const ComponentList = envelopeOf(Component, "ComponentList");

export const ComponentInput = z
  .strictObject({ name: Name, kind: Kind })
  .openapi("ComponentInput", { example: { name: "api", kind: "service" } });
