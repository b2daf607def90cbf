import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { identifierOf, timestampInput, timestampOf } from "../../../lib/schemas.ts";
import { IntegrationParams } from "../integrations/schemas.ts";
import { MAXIMUM_AGE, RECOVERY_STATUSES } from "./model.ts";

export const CreateRecovery = z
  .strictObject({
    since: timestampInput().openapi({
      format: "date-time",
      description: `The start of the period, at most ${MAXIMUM_AGE} ago.`,
    }),
    until: timestampInput().optional().openapi({
      format: "date-time",
      description:
        "The end of the period, which it does not include. Absent, or a later time: now.",
    }),
  })
  .openapi("CreateRecovery", {
    description: "The period of the failed deliveries.",
    example: { since: "2026-11-21T09:30:00.000Z", until: "2026-11-21T11:00:00.000Z" },
  });

export const RecoveryParams = IntegrationParams.extend(
  idParam("recovery_id", "recovery", "recovery"),
);

const Status = z.enum(RECOVERY_STATUSES).openapi("RecoveryStatus", {
  description: "`running` until it has read every failed delivery of the period.",
});

export const Recovery = z
  .object({
    id: identifierOf("recovery", "The `recovery_id` in the paths."),
    integration_id: identifierOf("integration", "The integration that the events are sent to."),
    status: Status,
    since: timestampOf("It covers deliveries that were created at this time or later."),
    until: timestampOf("It covers deliveries that were created before this time."),
    delivery_count: z.int().openapi({
      description: "How many deliveries it has created so far. They may not be sent yet.",
      example: 1_204,
    }),
    created_at: timestampOf("When it was requested."),
    updated_at: timestampOf("When it last made progress."),
    finished_at: timestampOf("When it finished. Absent while it is running.").optional(),
  })
  .openapi("Recovery", { description: "The new deliveries of what failed in a period." });

export const RecoveryList = envelopeOf(Recovery, "RecoveryList");
