import type { Feature } from "../../../feature.ts";
import { deliveries, deliveryAttempts, events } from "./table.ts";

export const outboxFeature = {
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
