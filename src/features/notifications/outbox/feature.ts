import type { Feature } from "../../../feature.ts";
import { deliveries, deliveryAttempts } from "./table.ts";

export const outboxFeature = {
  tables: [
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
