import { toTimestamp } from "../../../lib/clock.ts";
import type { EventType } from "../events.ts";

/** An event as it is sent: the body of a webhook. */
export interface Payload {
  id: string;
  type: EventType;
  timestamp: string;
  data: unknown;
}

/** The body of a delivery: the same, to the byte, whenever it is sent. */
export function payloadOf(delivery: {
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
