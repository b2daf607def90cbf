import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  component,
  identifierInput,
  nameInput,
  type Output,
  text,
  timestampInput,
} from "../../../lib/schemas.ts";
import type { FreezeInput } from "./model.ts";

const ENDS_BEFORE = "Send a time after starts_at.";

export const CreateFreeze = component("CreateFreeze", () =>
  z
    .strictObject({
      name: nameInput(LIMITS.nameLength.value).openapi(
        documented(() => ({ description: "What people call it.", example: "Black Friday" })),
      ),
      reason: text(LIMITS.descriptionLength.value).openapi(
        documented(() => ({
          description: "Why nothing is deployed. Whoever deploys meanwhile reads it.",
          example: "The busiest days of the year",
        })),
      ),
      starts_at: timestampInput().openapi(
        documented(() => ({ description: "From then on, nothing starts." })),
      ),
      ends_at: timestampInput().openapi(
        documented(() => ({ description: "From then on, deployments start again." })),
      ),
      environment_ids: z
        .array(identifierInput("environment"))
        .min(1)
        .max(LIMITS.poolEnvironments.value)
        .optional()
        .openapi(documented(() => ({ description: "Only these environments. Absent: all." }))),
      override: z
        .array(identifierInput("membership"))
        .max(LIMITS.ruleMembers.value)
        .optional()
        .openapi(
          documented(() => ({
            description:
              "The members who may start a deployment in spite of it, beside the owners of the organization.",
          })),
        ),
    })
    .refine(({ starts_at, ends_at }) => Date.parse(starts_at) < Date.parse(ends_at), {
      message: ENDS_BEFORE,
      path: ["ends_at"],
    })
    .openapi(
      documented(() => ({
        description: "The freeze to create.",
        example: {
          name: "Black Friday",
          reason: "The busiest days of the year",
          starts_at: "2025-11-27T00:00:00.000Z",
          ends_at: "2025-12-01T00:00:00.000Z",
        },
      })),
    ),
);

export function toFreezeInput(body: Output<typeof CreateFreeze>): FreezeInput {
  return {
    name: body.name,
    reason: body.reason,
    startsAt: Date.parse(body.starts_at),
    endsAt: Date.parse(body.ends_at),
    environmentIds: body.environment_ids ?? null,
    override: body.override ?? [],
  };
}

export const FreezeParams = lazy(() => z.object(idParam("freeze_id", "freeze", "freeze")));
