import { sql } from "drizzle-orm";
import type { Feature } from "../../../feature.ts";
import { deliveries, deliveryAttempts, events } from "./table.ts";

export const outboxFeature = {
  tables: [
    {
      table: deliveries,
      deletedWith: [deliveries.integrationId, deliveries.projectId],
      purged: true,
      retention: { period: "deliveries", isExpired: () => sql`deliveries.status <> 'pending'` },
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
      retention: {
        period: "deliveries",
        isExpired: (cutoff) => sql`events.last_used_at < ${cutoff}
          and not exists (select 1 from deliveries as pending
            where pending.event_id = events.id and pending.status = 'pending')`,
      },
    },
  ],
} satisfies Feature;
