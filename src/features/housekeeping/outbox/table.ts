import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import type { EventType } from "./events.ts";
import { integrations } from "./integration-table.ts";
import { DELIVERY_FAILURE_REASONS, DELIVERY_STATUSES } from "./model.ts";

const organizationId = () =>
  id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" });

/**
 * Written in the batch of the change that the event reports, so that neither exists without the
 * other. Every event is kept, whether or not an integration subscribes to it.
 */
export const events = sqliteTable(
  "events",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    /** Null if the event is about the project as a whole. It may be deleted by now. */
    environmentId: id("environment_id"),
    type: text("type").$type<EventType>().notNull(),
    /** JSON. */
    data: text("data").notNull(),
    /** When it happened. */
    createdAt: createdAt(),
    /** When its newest delivery was created: its retention counts from then. */
    lastUsedAt: time("last_used_at").notNull(),
  },
  (table) => [
    index("events_organization").on(table.organizationId, table.id),
    index("events_list").on(table.projectId, table.type, table.createdAt, table.id),
    index("events_list_environment")
      .on(table.projectId, table.environmentId, table.type, table.createdAt, table.id)
      .where(sql`environment_id is not null`),
  ],
);

/** One event for one integration. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    integrationId: id("integration_id")
      .notNull()
      .references(() => integrations.id, { onDelete: "restrict" }),
    /** The same for every integration, and for a redelivery. */
    eventId: id("event_id").notNull(),
    type: text("type").$type<EventType>().notNull(),
    occurredAt: time("occurred_at").notNull(),
    status: text("status", { enum: DELIVERY_STATUSES }).notNull(),
    /** Counts claims. `deliveryAttempts` has the requests. */
    attempts: integer("attempts").notNull(),
    /** It is not sent before this time. While it is sent, the end of the claim. */
    dueAt: time("due_at").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    finishedAt: time("finished_at"),
    /** Null if its last delivery attempt failed it. */
    failureReason: text("failure_reason", { enum: DELIVERY_FAILURE_REASONS }),
  },
  (table) => [
    index("deliveries_finished").on(table.organizationId, table.id).where(sql`status <> 'pending'`),
    index("deliveries_list").on(table.integrationId, table.createdAt, table.id),
    index("deliveries_list_status").on(
      table.integrationId,
      table.status,
      table.createdAt,
      table.id,
    ),
    index("deliveries_project").on(table.projectId),
    index("deliveries_due")
      .on(table.organizationId, table.integrationId, table.dueAt)
      .where(sql`status = 'pending'`),
    // A redelivery, which is later than its event.
    index("deliveries_redelivered")
      .on(table.integrationId, table.eventId)
      .where(sql`created_at > occurred_at`),
    index("deliveries_pending_event").on(table.eventId).where(sql`status = 'pending'`),
  ],
);

export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    deliveryId: id("delivery_id")
      .notNull()
      .references(() => deliveries.id, { onDelete: "restrict" }),
    number: integer("number").notNull(),
    organizationId: organizationId(),
    startedAt: time("started_at").notNull(),
    durationMs: integer("duration_ms").notNull(),
    statusCode: integer("status_code"),
    error: text("error"),
    /** The first 1,024 bytes of the response. */
    response: text("response"),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);

/** Each has at most one row in `delivery_attempts`. */
export const ATTEMPTS = sql`deliveries.attempts`;

export const isFinished = () => sql`deliveries.status <> 'pending'`;

const HAS_NO_PENDING_DELIVERY = sql`not exists (select 1 from deliveries as pending
  where pending.event_id = events.id and pending.status = 'pending')`;

/** Whether an event has had no new delivery since `cutoff`, and no delivery of it is pending. */
export const isUnused = (cutoff: number) =>
  sql`events.last_used_at < ${cutoff} and ${HAS_NO_PENDING_DELIVERY}`;

/**
 * Whether all deliveries of an event are gone: those that are finished go oldest first, and none of an event
 * is newer than its last use.
 */
export const HAS_NO_DELIVERY = sql`${HAS_NO_PENDING_DELIVERY}
  and events.last_used_at < coalesce((select oldest.created_at from deliveries as oldest
    where oldest.organization_id = events.organization_id and oldest.status <> 'pending'
    order by oldest.id limit 1), 9e15)`;
