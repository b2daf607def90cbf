import { z } from "@hono/zod-openapi";
import { component } from "../../lib/schemas.ts";
import { EVENT_TYPES } from "./events.ts";

export const EventTypeName = component("EventType", () =>
  z.enum(EVENT_TYPES).openapi({ description: "What happened. Webhooks describes each type." }),
);
