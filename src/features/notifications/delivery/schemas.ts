import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { enumFilter, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { DELIVERY_FAILURE_REASONS, DELIVERY_STATUSES } from "../../housekeeping/outbox/model.ts";
import { EventPayload, PAYLOADS } from "../events/event-payloads.ts";
import { EventTypeName } from "../events/schemas.ts";
import { IntegrationParams } from "../integrations/schemas.ts";
import { failureOf } from "./outcome.ts";

export const DeliveryParams = IntegrationParams.extend(
  idParam("delivery_id", "delivery", "delivery"),
);

export const DeliveryQuery = ListQuery.extend({
  status: enumFilter("DeliveryStatus", DELIVERY_STATUSES).openapi({
    description: "Only deliveries with one of these statuses. Default: all.",
  }),
});

const TYPE = "deployments.succeeded";

const FAILED_STATUS = 503;

const Status = z.enum(DELIVERY_STATUSES).openapi("DeliveryStatus", {
  description: "`pending` until it has succeeded or failed. Both are final.",
});

const FailureReason = z.enum(DELIVERY_FAILURE_REASONS).openapi("DeliveryFailureReason", {
  description:
    "`integration_disabled`: the integration was disabled when the delivery was due. " +
    "`integration_unconfirmed`: its Slack installation was not confirmed. " +
    "`too_many_attempts`: too many attempts ended without a result. It can be redelivered.",
});

export const Delivery = z
  .object({
    id: identifierOf("delivery", "The `delivery_id` in the paths."),
    integration_id: identifierOf("integration", "The integration that the event is sent to."),
    event_id: identifierOf(
      "event",
      "The `webhook-id`. It is the same for every integration and every attempt.",
    ),
    type: EventTypeName.openapi({
      description: "What happened, for example a deployment that succeeded.",
      example: TYPE,
    }),
    status: Status,
    failure_reason: FailureReason.optional().openapi({
      description: "Why it failed without another attempt. Absent if its last attempt failed.",
    }),
    attempt_count: z.int().openapi({ description: "How many attempts were started.", example: 1 }),
    next_attempt_at: timestampOf(
      "It is not sent before this time. Absent unless it is pending.",
    ).optional(),
    created_at: timestampOf("When the event was recorded for this integration."),
    updated_at: timestampOf("When the delivery last changed."),
    finished_at: timestampOf("When it succeeded or failed. Absent while pending.").optional(),
  })
  .openapi("Delivery", { description: "One event that is sent to one integration." });

export const DeliveryList = envelopeOf(Delivery, "DeliveryList");

const Attempt = z
  .object({
    number: z.int().openapi({ description: "1 for the first attempt.", example: 1 }),
    started_at: timestampOf("When the request was sent."),
    duration_ms: z.int().min(0).openapi({
      description: "Milliseconds until the response was read, or the attempt failed.",
      example: 184,
    }),
    status_code: z.int().optional().openapi({
      description: "The status of the response. Absent if there was none.",
      example: FAILED_STATUS,
    }),
    error: z
      .string()
      .optional()
      .openapi({
        description:
          "Why there was no response, or why the response is a failure. Absent after a success.",
        example: failureOf(FAILED_STATUS).error,
      }),
    response: z
      .string()
      .optional()
      .openapi({
        description:
          `The first ${LIMITS.responseExcerptBytes.value} bytes of the response, with \`***\` in place of what it repeats of the ` +
          "target's URL. Absent if it was empty.",
        example: "upstream unavailable",
      }),
  })
  .openapi("DeliveryAttempt", {
    description: "One request to the integration's target, and its result.",
  });

export const DeliveryInFull = Delivery.extend({
  payload: EventPayload.openapi({
    description: "The body that is sent, the same in every attempt.",
    example: {
      id: EXAMPLE_IDS.event,
      type: TYPE,
      timestamp: "2026-11-21T09:30:00.000Z",
      data: PAYLOADS[TYPE].example,
    },
  }),
  attempts: z.array(Attempt).openapi({ description: "Every attempt, oldest first." }),
}).openapi("DeliveryInFull", {
  description: "A delivery with its event and the result of each attempt.",
});
