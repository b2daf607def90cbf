import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { after, observe, type Statement } from "../../../db/batch.ts";
import { IdSequence } from "../../../db/id-sequence.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { newId } from "../../../lib/ids.ts";
import { EVENTS } from "./events.ts";
import { IS_CONFIRMED, integrations } from "./integration-table.ts";
import { deliveries, events } from "./table.ts";

/** What `enqueue` observes. */
const DELIVERY_ID = { deliveryId: sql<string>`id`.as("delivery_id") };

const KIND_BY_TYPE = JSON.stringify(
  Object.fromEntries(Object.entries(EVENTS).map(([type, { kind }]) => [type, kind])),
);

function pendingAt(now: number) {
  return {
    status: "pending" as const,
    attempts: 0,
    dueAt: now,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
    failureReason: null,
  };
}

/** Whether an integration wants an event. Events of the project as a whole pass every filter. */
const PASSES_FILTERS = sql`(integrations.environment_ids is null or events.environment_id is null
    or events.environment_id in (select item.value from json_each(integrations.environment_ids) as item))
  and (integrations.stack_ids is null
    or coalesce(events.data ->> '$.stack_id', events.data ->> '$.deployment_id') is null
    or exists (select 1 from json_each(integrations.stack_ids) as item
      where item.value = events.data ->> '$.stack_id' or exists (select 1 from deployment_stacks
        where deployment_stacks.deployment_id = events.data ->> '$.deployment_id'
          and deployment_stacks.stack_id = item.value)))`;

/**
 * Writes events, and one delivery of each for every confirmed integration that subscribes to it, in
 * the batch of the change. `found` selects `key` (unique; sorts the events), `project_id`, `type`, and
 * `data` (JSON).
 * @param recipients A condition on `integrations` and `events`.
 */
export function writeOutbox(
  { db, clock, enqueue }: SystemContext,
  found: SQL,
  recipients: SQL = sql`true`,
) {
  const now = clock.now();
  const eventIds = new IdSequence(clock);
  return {
    events: insertFrom(
      db,
      events,
      {
        id: eventIds.at(sql`row_number() over (order by event.key) - 1`),
        organizationId: sql`projects.organization_id`,
        projectId: sql`projects.id`,
        environmentId: sql`event.data ->> '$.environment.id'`,
        type: sql`event.type`,
        data: sql`event.data`,
        createdAt: now,
        lastUsedAt: now,
      },
      sql`from (${found}) as event join projects on projects.id = event.project_id`,
    ),
    deliveries: observe(
      insertFrom(
        db,
        deliveries,
        {
          id: new IdSequence(clock).at(
            sql`row_number() over (order by events.id, integrations.id) - 1`,
          ),
          organizationId: sql`events.organization_id`,
          projectId: sql`events.project_id`,
          integrationId: sql`integrations.id`,
          eventId: sql`events.id`,
          type: sql`events.type`,
          occurredAt: now,
          ...pendingAt(now),
        },
        sql`from events
        join integrations on integrations.project_id = events.project_id
          and integrations.organization_id = events.organization_id
          and integrations.disabled_at is null and ${IS_CONFIRMED}
          and integrations.configuration ->> (${KIND_BY_TYPE} ->> events.type) = true
          and ${PASSES_FILTERS} and ${recipients}
        where ${eventIds.includes(sql`events.id`)}`,
      ).returning(DELIVERY_ID),
      enqueue,
    ),
  };
}

type NewDelivery = Pick<
  typeof deliveries.$inferSelect,
  "id" | "organizationId" | "integrationId" | "eventId" | "type" | "occurredAt"
>;

/** Writes nothing if the integration is unconfirmed, disabled or deleted. */
export function writePing(
  ctx: SystemContext,
  deliveryId: string,
  { id: integrationId, organizationId }: { id: string; organizationId: string },
) {
  const { db, clock } = ctx;
  const now = clock.now();
  const event = { id: newId(clock), organizationId, type: "ping" as const };
  const delivery = { integrationId, organizationId, eventId: event.id, type: event.type };
  return {
    delivery: writeDelivery(ctx, { ...delivery, id: deliveryId, occurredAt: now }),
    event: insertFrom(
      db,
      events,
      {
        ...event,
        projectId: sql`integrations.project_id`,
        environmentId: null,
        data: JSON.stringify({ integration_id: integrationId }),
        createdAt: now,
        lastUsedAt: now,
      },
      sql`from integrations where integrations.id = ${integrationId} and ${isWritten(deliveryId)}`,
    ),
  };
}

/** Writes nothing if the integration is unconfirmed, disabled or deleted. */
export function writeRedelivery(
  ctx: SystemContext,
  deliveryId: string,
  failed: typeof deliveries.$inferSelect,
) {
  const { organizationId, integrationId, eventId, type, occurredAt } = failed;
  const { db, clock } = ctx;
  return {
    delivery: writeDelivery(ctx, {
      id: deliveryId,
      organizationId,
      integrationId,
      eventId,
      type,
      occurredAt,
    }),
    event: db
      .update(events)
      .set({ lastUsedAt: clock.now() })
      .where(sql`${eq(events.id, eventId)} and ${isWritten(deliveryId)}`),
  };
}

const isWritten = (deliveryId: string) =>
  sql`exists (select 1 from deliveries as written where written.id = ${deliveryId})`;

function writeDelivery({ db, clock, enqueue }: SystemContext, delivery: NewDelivery) {
  const { organizationId, integrationId } = delivery;
  return observe(
    insertFrom(
      db,
      deliveries,
      { ...pendingAt(clock.now()), ...delivery, projectId: sql`integrations.project_id` },
      sql`from integrations where ${eq(integrations.organizationId, organizationId)}
      and ${eq(integrations.id, integrationId)} and integrations.disabled_at is null
      and ${IS_CONFIRMED}`,
    ).returning({ ...getTableColumns(deliveries), ...DELIVERY_ID }),
    enqueue,
  );
}

/**
 * Writes new deliveries of events that failed, oldest first, if the recovery was `advanced`. Leaves out
 * events that the integration has received, that are pending, or that were delivered again since the
 * recovery was created.
 * @param failedIds Of deliveries of the integration.
 */
export function writeRedeliveries(
  { db, clock, enqueue }: SystemContext,
  recovery: { organizationId: string; integrationId: string; createdAt: number },
  failedIds: readonly string[],
  advanced: Statement,
) {
  const { organizationId, integrationId } = recovery;
  const now = clock.now();
  const ids = new IdSequence(clock);
  const isPending = sql`exists (select 1 from deliveries as waiting
    where waiting.event_id = failed.event_id and waiting.status = 'pending'
      and waiting.integration_id = failed.integration_id)`;
  // A first delivery is created with its event, and a redelivery later, which the event records.
  const wasDelivered = sql`exists (select 1 from deliveries as original
      where original.integration_id = failed.integration_id and original.status = 'succeeded'
        and original.created_at = failed.occurred_at and original.event_id = failed.event_id)
    or exists (select 1 from deliveries as again
      where again.integration_id = failed.integration_id and again.event_id = failed.event_id
        and again.created_at > again.occurred_at
        and (again.status = 'succeeded' or again.created_at >= ${recovery.createdAt}))`;
  return {
    deliveries: after(advanced, (hasChanged) =>
      observe(
        insertFrom(
          db,
          deliveries,
          {
            id: ids.at(sql`row_number() over (order by failed.created_at, failed.id) - 1`),
            organizationId,
            projectId: sql`failed.project_id`,
            integrationId,
            eventId: sql`failed.event_id`,
            type: sql`failed.type`,
            occurredAt: sql`failed.occurred_at`,
            ...pendingAt(now),
          },
          sql`from (select deliveries.*, row_number() over (partition by deliveries.event_id
            order by deliveries.created_at desc, deliveries.id desc) as position
          from json_each(${JSON.stringify(failedIds)}) as item
          join deliveries on deliveries.id = item.value
          where deliveries.organization_id = ${organizationId}
            and deliveries.integration_id = ${integrationId} and deliveries.status = 'failed'
        ) as failed
        where ${hasChanged} and failed.position = 1
          and exists (select 1 from events where events.id = failed.event_id)
          and not ${isPending} and not (${wasDelivered})`,
        ).returning(DELIVERY_ID),
        enqueue,
      ),
    ),
    events: db
      .update(events)
      .set({ lastUsedAt: now })
      .where(
        sql`${events.id} in (select deliveries.event_id from deliveries
          where ${ids.includes(sql`deliveries.id`)})`,
      ),
  };
}
