import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";

export const Freeze = component("Freeze", () =>
  z
    .object({
      id: identifierOf("freeze", "With which it is read and deleted."),
      org_id: identifierOf("organization", "Whose deployments it stops."),
      project_id: identifierOf("project", "Absent: all projects.").optional(),
      environment_ids: identifiersOf("environment").optional().openapi({
        description: "Only these environments, as far as the key can access them. Absent: all.",
      }),
      name: z.string().openapi({ description: "What people call it.", example: "Black Friday" }),
      reason: z.string().openapi({
        description: "Why nothing is deployed.",
        example: "The busiest days of the year",
      }),
      starts_at: timestampOf("From then on, nothing starts."),
      ends_at: timestampOf("From then on, deployments start again."),
      override: identifiersOf("membership").openapi({
        description: "The members who may override it, beside the owners of the organization.",
      }),
      created_by: identifierOf("membership", "Who has created it."),
      created_at: timestampOf("When it was created."),
    })
    .openapi({
      description: "A time in which no deployment starts. Those that run go on.",
    }),
);

export const FreezeList = envelopeOf(Freeze, "FreezeList");
