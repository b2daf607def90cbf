import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { IdSequence } from "../../../db/id-sequence.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { IS_CONFIRMED, integrations } from "../integrations/table.ts";
import { OVERDUE_MS } from "./model.ts";
import { deliveries } from "./table.ts";

/** `commit` enqueues the IDs that a statement returns under this name. */
const DELIVERY_ID = { deliveryId: sql<string>`id`.as("delivery_id") };

const { data: _, ...WITHOUT_DATA } = getTableColumns(deliveries);

function pendingAt(now: number) {
  return {
    status: "pending" as const,
    attempts: 0,
    dueAt: now,
    claimedUntil: null,
    sweepAt: now + OVERDUE_MS,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
    failureReason: null,
  };
}

/**
 * Writes one delivery of an event for every confirmed integration that subscribes to its kind, in
 * the batch of the change. `events` selects `key` (rows of one event share it; events are sorted by it),
 * `project_id`, `type` and `kind` (see events.ts), and `data` (JSON).
 */
export function writeOutbox({ db, clock }: SystemContext, events: SQL) {
  const now = clock.now();
  return insertFrom(
    db,
    deliveries,
    {
      id: new IdSequence(clock).at(
        sql`row_number() over (order by event.key, integrations.id) - 1`,
      ),
      organizationId: sql`integrations.organization_id`,
      projectId: sql`integrations.project_id`,
      integrationId: sql`integrations.id`,
      eventId: new IdSequence(clock).at(sql`dense_rank() over (order by event.key) - 1`),
      type: sql`event.type`,
      data: sql`event.data`,
      occurredAt: now,
      ...pendingAt(now),
    },
    sql`from (${events}) as event
      join integrations on integrations.project_id = event.project_id
        and integrations.disabled_at is null and ${IS_CONFIRMED}
        and integrations.configuration ->> event.kind = true`,
  ).returning(DELIVERY_ID);
}

export type NewDelivery = Pick<
  typeof deliveries.$inferSelect,
  "id" | "organizationId" | "integrationId" | "eventId" | "type" | "data" | "occurredAt"
>;

/** Writes nothing if the integration is unconfirmed, disabled or deleted. */
export function writeDelivery({ db, clock }: SystemContext, delivery: NewDelivery) {
  const { organizationId, integrationId } = delivery;
  return insertFrom(
    db,
    deliveries,
    { ...delivery, projectId: sql`integrations.project_id`, ...pendingAt(clock.now()) },
    sql`from integrations where ${eq(integrations.organizationId, organizationId)}
      and ${eq(integrations.id, integrationId)} and integrations.disabled_at is null
      and ${IS_CONFIRMED}`,
  ).returning({ ...WITHOUT_DATA, ...DELIVERY_ID });
}
