import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_ID, enumFilter, Identifier, Timestamp } from "../../../lib/schemas.ts";
import { EVENT_TYPES } from "../events.ts";
import { IntegrationParams } from "../integrations/index.ts";
import { DELIVERY_STATUSES, FAILURE_REASONS } from "../outbox/model.ts";
import { failureOf } from "./outcome.ts";

const TYPE = "deployments.succeeded";
const FAILED_STATUS = 503;

const Status = z.enum(DELIVERY_STATUSES).openapi("DeliveryStatus", {
  description: "`pending` until it has succeeded or failed. Both are final.",
});

export const Delivery = z
  .object({
    id: Identifier,
    integration_id: Identifier,
    event_id: Identifier.openapi({
      description: "The `webhook-id`. It is the same for every integration and every attempt.",
    }),
    type: z.enum(EVENT_TYPES).openapi({ example: TYPE }),
    status: Status,
    failure_reason: z
      .enum(FAILURE_REASONS)
      .optional()
      .openapi({
        description:
          "Why it failed without another attempt; absent if its last attempt failed. " +
          "`integration_disabled`: the integration was disabled when the delivery was due. " +
          "`too_many_attempts`: too many attempts ended without a result. `not_handled`: the queue " +
          "gave up on it. It can be redelivered.",
      }),
    attempt_count: z.int().openapi({ description: "How many attempts were started." }),
    next_attempt_at: Timestamp.optional().openapi({
      description: "While it is pending: it is not sent before this time.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Timestamp.optional(),
  })
  .openapi("Delivery");

export const DeliveryList = envelopeOf(Delivery, "DeliveryList");

const Attempt = z
  .object({
    number: z.int().openapi({ description: "1 for the first attempt." }),
    started_at: Timestamp,
    duration_ms: z.int().openapi({ description: "The duration in milliseconds." }),
    status_code: z
      .int()
      .optional()
      .openapi({ description: "The status of the response.", example: FAILED_STATUS }),
    error: z
      .string()
      .optional()
      .openapi({
        description: "Why there was no response, or why the response is a failure.",
        example: failureOf(FAILED_STATUS).error,
      }),
    response: z.string().optional().openapi({
      description: "The first 1,024 bytes of the response.",
      example: "upstream unavailable",
    }),
  })
  .openapi("DeliveryAttempt");

const Payload = z
  .object({
    id: Identifier,
    type: z.enum(EVENT_TYPES),
    timestamp: Timestamp.openapi({ description: "When the event happened." }),
    data: z
      .record(z.string(), z.unknown())
      .openapi({ description: "The fields depend on the type: see Webhooks." }),
  })
  .openapi("DeliveryPayload", {
    description: "The body that is sent to a webhook.",
    example: {
      id: EXAMPLE_ID,
      type: TYPE,
      timestamp: "2026-11-21T09:30:00.000Z",
      data: { deployment_id: EXAMPLE_ID, status: "succeeded" },
    },
  });

export const DeliveryInFull = Delivery.extend({
  payload: Payload,
  attempts: z.array(Attempt).openapi({ description: "Every attempt, oldest first." }),
}).openapi("DeliveryInFull");

export const DeliveryParams = IntegrationParams.extend(idParam("delivery_id", "delivery"));

export const DeliveryQuery = ListQuery.extend({ status: enumFilter(DELIVERY_STATUSES) });
