import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import { toPayload } from "../../housekeeping/outbox/model.ts";
import type { EventPayload } from "../events/event-payloads.ts";
import type { AttemptRow, DeliveryRow, DeliveryRowInFull } from "./store.ts";

export function presentDelivery(row: DeliveryRow) {
  return {
    id: row.id,
    integration_id: row.integrationId,
    event_id: row.eventId,
    type: row.type,
    status: row.status,
    failure_reason: row.failureReason ?? undefined,
    attempt_count: row.attempts,
    next_attempt_at: row.status === "pending" ? toTimestamp(row.dueAt) : undefined,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
    finished_at: row.finishedAt === null ? undefined : toTimestamp(row.finishedAt),
  };
}

export function presentDeliveryInFull({
  delivery,
  attempts,
}: {
  delivery: DeliveryRowInFull;
  attempts: readonly AttemptRow[];
}) {
  return {
    ...presentDelivery(delivery),
    payload: toPayload(delivery) as z.output<typeof EventPayload>,
    attempts: attempts.map(presentAttempt),
  };
}

function presentAttempt(row: AttemptRow) {
  return {
    number: row.number,
    started_at: toTimestamp(row.startedAt),
    duration_ms: row.durationMs,
    status_code: row.statusCode ?? undefined,
    error: row.error ?? undefined,
    response: row.response ?? undefined,
  };
}
