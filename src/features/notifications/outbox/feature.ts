import type { Feature } from "../../../feature.ts";
import { eventRoutes } from "./routes.ts";
import { deliveries, deliveryAttempts, events } from "./table.ts";

export const outboxFeature = {
  tags: [
    {
      name: "Events",
      description:
        "What happened in a project. Integrations receive the events that they subscribe to.",
    },
  ],
  routes: { apiKey: [eventRoutes] },
  tables: [
    {
      table: events,
      deletedWith: [events.projectId],
    },
    {
      table: deliveries,
      deletedWith: [deliveries.integrationId, deliveries.projectId],
    },
    {
      table: deliveryAttempts,
      deletedWith: [deliveryAttempts.deliveryId],
    },
  ],
} satisfies Feature;
