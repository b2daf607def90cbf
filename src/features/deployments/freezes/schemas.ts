import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  identifierInput,
  identifierOf,
  identifiersOf,
  nameInput,
  text,
  timestampInput,
  timestampOf,
} from "../../../lib/schemas.ts";
import type { FreezeInput } from "./model.ts";

const ENDS_BEFORE = "Send a time after starts_at.";

export const CreateFreeze = z
  .strictObject({
    name: nameInput(LIMITS.nameLength.value).openapi({
      description: "What people call it.",
      example: "Black Friday",
    }),
    reason: text(LIMITS.descriptionLength.value).openapi({
      description: "Why nothing is deployed. Whoever deploys meanwhile reads it.",
      example: "The busiest days of the year",
    }),
    starts_at: timestampInput().openapi({ description: "From then on, nothing starts." }),
    ends_at: timestampInput().openapi({ description: "From then on, deployments start again." }),
    environment_ids: z
      .array(identifierInput("environment"))
      .min(1)
      .max(LIMITS.poolEnvironments.value)
      .optional()
      .openapi({ description: "Only these environments. Absent: all." }),
    override: z
      .array(identifierInput("membership"))
      .max(LIMITS.ruleMembers.value)
      .optional()
      .openapi({
        description:
          "The members who may start a deployment in spite of it, beside the owners of the organization.",
      }),
  })
  .refine(({ starts_at, ends_at }) => Date.parse(starts_at) < Date.parse(ends_at), {
    message: ENDS_BEFORE,
    path: ["ends_at"],
  })
  .openapi("CreateFreeze", {
    description: "The freeze to create.",
    example: {
      name: "Black Friday",
      reason: "The busiest days of the year",
      starts_at: "2025-11-27T00:00:00.000Z",
      ends_at: "2025-12-01T00:00:00.000Z",
    },
  });

export function toFreezeInput(body: z.output<typeof CreateFreeze>): FreezeInput {
  return {
    name: body.name,
    reason: body.reason,
    startsAt: Date.parse(body.starts_at),
    endsAt: Date.parse(body.ends_at),
    environmentIds: body.environment_ids ?? null,
    override: body.override ?? [],
  };
}

export const FreezeParams = z.object(idParam("freeze_id", "freeze", "freeze"));

export const Freeze = z
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
  .openapi("Freeze", {
    description: "A time in which no deployment starts. Those that run go on.",
  });

export const FreezeList = envelopeOf(Freeze, "FreezeList");
