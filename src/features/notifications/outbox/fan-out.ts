import { type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { NumberedIds } from "../../../db/numbered-ids.ts";
import { deliveries } from "./table.ts";

/** The queue is told of a delivery when it is written; if not, the sweep tells it then. */
export const SWEEP_AFTER_MS = 60_000;

/**
 * Writes an event for every integration that wants it, for the batch of what it tells of. `events`
 * selects `key` (which event, and in what order), `project_id`, `type`, `kind` and `data` (JSON).
 * An event that nobody wants is not written. `commit` sends on what this returns.
 */
export function writeOutbox({ db, clock }: SystemContext, events: SQL) {
  const now = clock.now();
  const eventId = new NumberedIds(clock).of(sql`dense_rank() over (order by event.key) - 1`);
  const deliveryId = new NumberedIds(clock).of(
    sql`row_number() over (order by event.key, wanting.id) - 1`,
  );
  return db
    .insert(deliveries)
    .select(
      sql`select ${deliveryId}, wanting.organization_id, wanting.project_id, wanting.id, ${eventId},
          event.type, event.data, ${now}, 'pending', 0, ${now}, null, ${now + SWEEP_AFTER_MS},
          ${now}, ${now}, null, null
        from (${events}) as event
        join integrations as wanting on wanting.project_id = event.project_id
          and wanting.disabled_at is null
          and wanting.configuration ->> event.kind = true`,
    )
    .returning({ deliveryId: sql<string>`id`.as("delivery_id") });
}
