import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import {
  enumFilter,
  identifierInput,
  identifierOf,
  timestampInput,
  timestampOf,
} from "../../../lib/schemas.ts";
import { EVENT_TYPES } from "../../housekeeping/outbox/events.ts";
import { PAYLOADS } from "./event-payloads.ts";

export const EventQuery = ListQuery.extend({
  type: enumFilter("EventType", EVENT_TYPES).openapi({
    description: "Only these types. Several are repeated, or separated by commas. Default: all.",
  }),
  environment_id: identifierInput("environment").optional().openapi({
    description: "Only events of this environment, which may be deleted by now.",
  }),
  from: timestampInput().optional().openapi({
    format: "date-time",
    description: "Only events of this time and later.",
    example: "2026-11-21T00:00:00Z",
  }),
  to: timestampInput().optional().openapi({
    format: "date-time",
    description: "Only events before this time.",
    example: "2026-11-22T00:00:00Z",
  }),
});

export const EventTypeName = z
  .enum(EVENT_TYPES)
  .openapi("EventType", { description: "What happened. Webhooks describes each type." });

const TYPE = "deployments.succeeded";

const ProjectEvent = z
  .object({
    id: identifierOf(
      "event",
      "The `webhook-id`, and the `event_id` of every delivery of the event.",
    ),
    type: EventTypeName.openapi({
      description: "What happened. Determines the fields of `data`.",
      example: TYPE,
    }),
    environment_id: identifierOf(
      "environment",
      "Where it happened. It may be deleted by now. Absent if the event is about the project as a " +
        "whole.",
    ).optional(),
    created_at: timestampOf("When it happened: the `timestamp` of the body."),
    data: z.record(z.string(), z.unknown()).openapi({
      description:
        "The resources concerned, as they were at that time: the `data` of the body of this type. " +
        "Webhooks describes it for each type.",
      example: PAYLOADS[TYPE].example,
    }),
  })
  .openapi("ProjectEvent", { description: "Something that happened in a project." });

export const ProjectEventList = envelopeOf(ProjectEvent, "ProjectEventList");
