import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput } from "../../../lib/errors.ts";
import { BEFORE_FROM } from "../../../lib/time-messages.ts";
import type { EventQuery } from "./schemas.ts";
import type { EventFilter, EventRow } from "./store.ts";

export function presentEvent(row: EventRow) {
  return {
    id: row.id,
    type: row.type,
    environment_id: row.environmentId ?? undefined,
    created_at: toTimestamp(row.createdAt),
    data: JSON.parse(row.data),
  };
}

/** @throws BadInput if the range ends before it begins. */
export function toFilter(query: z.output<typeof EventQuery>): EventFilter {
  const { type = [], environment_id, from, to } = query;
  const range = {
    from: from === undefined ? undefined : Date.parse(from),
    to: to === undefined ? undefined : Date.parse(to),
  };
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw new BadInput([{ path: "to", message: BEFORE_FROM }]);
  }
  return { types: type, environmentId: environment_id, ...range };
}
