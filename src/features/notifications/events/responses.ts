import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { EVENT_TYPES } from "../../housekeeping/outbox/events.ts";
import { PAYLOADS } from "./event-payloads.ts";

export const EventTypeName = component("EventType", () =>
  z.enum(EVENT_TYPES).openapi({ description: "What happened. Webhooks describes each type." }),
);

const TYPE = "deployments.succeeded";

const ProjectEvent = component("ProjectEvent", () =>
  z
    .object({
      id: identifierOf(
        "event",
        "The `webhook-id`, and the `event_id` of every delivery of the event.",
      ),
      type: EventTypeName().openapi({
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
    .openapi({ description: "Something that happened in a project." }),
);

export const ProjectEventList = envelopeOf(ProjectEvent, "ProjectEventList");
