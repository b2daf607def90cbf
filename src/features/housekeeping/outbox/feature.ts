import type { Feature } from "../../../feature.ts";
import {
  ATTEMPTS,
  deliveries,
  deliveryAttempts,
  events,
  HAS_NO_DELIVERY,
  isFinished,
  isUnused,
} from "./table.ts";

/** Of the columns that the sender changes. */
const FIXED_BYTES = {
  status: 9,
  attempts: 1,
  failure_reason: 0,
  due_at: 13,
  finished_at: 13,
};

export const outboxFeature = {
  tables: [
    {
      table: deliveries,
      deletedWith: [deliveries.integrationId, deliveries.projectId],
      purged: true,
      retention: { period: "deliveries", isExpired: isFinished },
      history: { kind: "deliveries", fixed: FIXED_BYTES },
      rolled: { indexed: isFinished(), children: ATTEMPTS },
    },
    {
      table: deliveryAttempts,
      deletedWith: [deliveryAttempts.deliveryId],
      purged: true,
      history: { kind: "delivery_attempts" },
    },
    // After the deliveries, because the purge follows this order.
    {
      table: events,
      deletedWith: [events.projectId],
      purged: true,
      retention: { period: "deliveries", isExpired: isUnused },
      history: { kind: "events" },
      rolled: { mayGo: HAS_NO_DELIVERY },
    },
  ],
} satisfies Feature;
