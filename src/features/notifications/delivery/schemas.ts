import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_ID, enumFilter, Identifier, Timestamp } from "../../../lib/schemas.ts";
import { IntegrationParams } from "../integrations/index.ts";
import { EVENT_TYPES } from "../kinds.ts";
import { DELIVERY_STATUSES, FAILURE_REASONS } from "../outbox/model.ts";
import { failureOf } from "./outcome.ts";

const TYPE = "deployments.succeeded";
const FAILED_STATUS = 503;

const Status = z.enum(DELIVERY_STATUSES).openapi("DeliveryStatus", {
  description: "`pending` until it has arrived, or has been given up; what it is then, it stays.",
});

export const Delivery = z
  .object({
    id: Identifier,
    integration_id: Identifier,
    event_id: Identifier.openapi({
      description: "The `webhook-id`: the same for whoever is told of the event, however often.",
    }),
    type: z.enum(EVENT_TYPES).openapi({ example: TYPE }),
    status: Status,
    failure_reason: z
      .enum(FAILURE_REASONS)
      .optional()
      .openapi({
        description:
          "Why it failed without being sent (again); absent if its last attempt failed. " +
          "`integration_disabled`: the integration was disabled when it was due. " +
          "`too_many_attempts`: it was begun too often without coming to an end. `not_handled`: the " +
          "queue gave it up. It can be sent again by hand.",
      }),
    attempt_count: z.int().openapi({ description: "How many times it was begun to be sent." }),
    next_attempt_at: Timestamp.optional().openapi({
      description: "While it is pending: not to be sent before.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Timestamp.optional(),
  })
  .openapi("Delivery");

export const DeliveryList = envelopeOf(Delivery, "DeliveryList");

const Attempt = z
  .object({
    number: z.int().openapi({ description: "1 for the first." }),
    started_at: Timestamp,
    duration_ms: z.int().openapi({ description: "How long it took, in milliseconds." }),
    status_code: z
      .int()
      .optional()
      .openapi({ description: "Of the answer.", example: FAILED_STATUS }),
    error: z
      .string()
      .optional()
      .openapi({
        description: "Why there was no answer, or why it does not count.",
        example: failureOf(FAILED_STATUS).error,
      }),
    response: z.string().optional().openapi({
      description: "The beginning of the answer: 1,024 bytes at the most.",
      example: "upstream unavailable",
    }),
  })
  .openapi("DeliveryAttempt");

const Payload = z
  .object({
    id: Identifier,
    type: z.enum(EVENT_TYPES),
    timestamp: Timestamp.openapi({ description: "When it happened." }),
    data: z.record(z.string(), z.unknown()).openapi({ description: "By the type; see Webhooks." }),
  })
  .openapi("DeliveryPayload", {
    description: "What is sent to a webhook.",
    example: {
      id: EXAMPLE_ID,
      type: TYPE,
      timestamp: "2026-11-21T09:30:00.000Z",
      data: { deployment_id: EXAMPLE_ID, status: "succeeded" },
    },
  });

export const DeliveryInFull = Delivery.extend({
  payload: Payload,
  attempts: z.array(Attempt).openapi({ description: "Each time it was sent, the first first." }),
}).openapi("DeliveryInFull");

export const DeliveryParams = IntegrationParams.extend(idParam("delivery_id", "delivery"));

export const DeliveryQuery = ListQuery.extend({ status: enumFilter(DELIVERY_STATUSES) });
