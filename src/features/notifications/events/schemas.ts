import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { enumFilter, identifierInput, timestampInput } from "../../../lib/schemas.ts";
import { EVENT_TYPES } from "../../housekeeping/outbox/events.ts";

export const EventQuery = lazy(() =>
  ListQuery().extend({
    type: enumFilter("EventType", EVENT_TYPES).openapi(
      documented(() => ({
        description:
          "Only these types. Several are repeated, or separated by commas. Default: all.",
      })),
    ),
    environment_id: identifierInput("environment")
      .optional()
      .openapi(
        documented(() => ({
          description: "Only events of this environment, which may be deleted by now.",
        })),
      ),
    from: timestampInput()
      .optional()
      .openapi(
        documented(() => ({
          format: "date-time",
          description: "Only events of this time and later.",
          example: "2026-11-21T00:00:00Z",
        })),
      ),
    to: timestampInput()
      .optional()
      .openapi(
        documented(() => ({
          format: "date-time",
          description: "Only events before this time.",
          example: "2026-11-22T00:00:00Z",
        })),
      ),
  }),
);
