import type { Feature } from "../../../feature.ts";
import { deliveries, deliveryAttempts, events, isFinished, isUnused } from "./table.ts";

export const outboxFeature = {
  tables: [
    {
      table: deliveries,
      deletedWith: [deliveries.integrationId, deliveries.projectId],
      purged: true,
      retention: { period: "deliveries", isExpired: isFinished },
    },
    {
      table: deliveryAttempts,
      deletedWith: [deliveryAttempts.deliveryId],
      purged: true,
    },
    // After the deliveries, because the purge follows this order.
    {
      table: events,
      deletedWith: [events.projectId],
      purged: true,
      retention: { period: "deliveries", isExpired: isUnused },
    },
  ],
} satisfies Feature;
