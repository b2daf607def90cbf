import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { RECOVERY_STATUSES } from "./model.ts";

const Status = component("RecoveryStatus", () =>
  z.enum(RECOVERY_STATUSES).openapi({
    description: "`running` until it has read every failed delivery of the period.",
  }),
);

export const Recovery = component("Recovery", () =>
  z
    .object({
      id: identifierOf("recovery", "The `recovery_id` in the paths."),
      integration_id: identifierOf("integration", "The integration that the events are sent to."),
      status: Status(),
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
    .openapi({ description: "The new deliveries of what failed in a period." }),
);

export const RecoveryList = envelopeOf(Recovery, "RecoveryList");
