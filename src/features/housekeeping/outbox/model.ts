import { toTimestamp } from "../../../lib/clock.ts";
import type { EventType } from "./events.ts";

/** `succeeded` and `failed` are final. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery failed without a recorded delivery attempt that ended it. */
export const DELIVERY_FAILURE_REASONS = [
  "integration_disabled",
  "integration_unconfirmed",
  "too_many_attempts",
] as const;
export type FailureReason = (typeof DELIVERY_FAILURE_REASONS)[number];

export const INTEGRATION_TYPES = ["slack", "webhook"] as const;
export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

export const DISABLED_REASONS = ["gone", "failing"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A delivery is this long overdue when its message was lost or never sent. */
export const OVERDUE_MS = 60_000;

export interface Payload {
  id: string;
  type: EventType;
  timestamp: string;
  data: unknown;
}

/** The same, to the byte, each time that it is sent. */
export function toPayload(delivery: {
  eventId: string;
  type: EventType;
  occurredAt: number;
  data: string;
}): Payload {
  return {
    id: delivery.eventId,
    type: delivery.type,
    timestamp: toTimestamp(delivery.occurredAt),
    data: JSON.parse(delivery.data),
  };
}
