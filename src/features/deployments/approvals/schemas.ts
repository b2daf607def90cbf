import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, identifierInput, text } from "../../../lib/schemas.ts";
import { APPROVAL_DECISIONS } from "../conditions/model.ts";

export const Decision = component("ApprovalDecision", () =>
  z.enum(APPROVAL_DECISIONS).openapi(
    documented(() => ({
      description: "`approve` counts for the content alone; `reject` ends the deployment.",
    })),
  ),
);

export const CreateApproval = component("CreateApproval", () =>
  z
    .strictObject({
      decision: Decision(),
      comment: text(LIMITS.descriptionLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "For people. All who may read the deployment see it.",
          })),
        ),
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "Send the 64 hex digits of a digest.")
        .optional()
        .openapi(
          documented(() => ({
            description:
              "The `digest` of the configuration that you have read, so that nothing else is approved. Another " +
              "content is a `conflict`. Absent: what would start now.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "What you decide about a queued deployment.",
        example: { decision: "approve", comment: "Looks good" },
      })),
    ),
);

export const PendingApprovalQuery = lazy(() =>
  z.object({
    deployment_id: identifierInput("deployment")
      .optional()
      .openapi(
        documented(() => ({
          description: "Only this deployment: whether it waits for your approval.",
        })),
      ),
  }),
);
