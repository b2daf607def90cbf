import { eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { IS_CONFIRMED, integrations } from "../integrations/table.ts";
import { type FailureReason, OVERDUE_MS } from "../outbox/model.ts";
import { deliveries } from "../outbox/table.ts";

/** Bounds crash loops: the queue counts the attempts of a message, not those of a delivery. */
const MAX_CLAIMS = LIMITS.deliveryClaims.value;
/** Longer than any attempt takes. */
export const CLAIM_MS = 60_000;
/**
 * A delivery that waits for a paused integration is deferred by at least this share of its age, so
 * that a long backlog is not read as a whole each time.
 */
const AGE_SHARE = 10;
const MAX_AGE_DELAY_MS = 600_000;
/** Slack accepts one message a second for each channel. */
const SLACK_INTERVAL_MS = 1_000;
/** Longer than the interval, so that a message that is a little late delays no other. */
const SLACK_SPACING_MS = 1_100;
const MAX_SLACK_SPREAD_MS = 600_000;

/** With its integration, as both are after the claim. */
export type ClaimedDelivery = Awaited<ReturnType<typeof listClaimed>>[number];

/**
 * Claims deliveries by compare-and-set, in one batch. Of those that are due, it fails the ones to a
 * disabled or unconfirmed integration and the ones that were claimed too often, and defers the ones
 * whose integration is paused or throttled.
 */
export function claim(db: Database, ids: readonly string[], now: number) {
  const list = sql`json_each(${JSON.stringify(ids)}) as item`;
  return {
    failed: failUndeliverable(db, list, now),
    claimed: claimDue(db, list, now),
    throttle: throttle(db, list, now),
    deferred: defer(db, list, now),
    deliveries: listClaimed(db, list),
  };
}

function isDueAndUnclaimed(now: number): SQL {
  return sql`deliveries.status = 'pending' and deliveries.due_at <= ${now}
    and (deliveries.claimed_until is null or deliveries.claimed_until <= ${now})`;
}

function failUndeliverable(db: Database, list: SQL, now: number) {
  const disabled: FailureReason = "integration_disabled";
  const unconfirmed: FailureReason = "integration_unconfirmed";
  const tooMany: FailureReason = "too_many_attempts";
  return db
    .update(deliveries)
    .set({
      status: "failed",
      failureReason: sql`(select case when integrations.disabled_at is not null then ${disabled}
          when not ${IS_CONFIRMED} then ${unconfirmed} else ${tooMany} end
        from integrations where integrations.id = ${deliveries.integrationId})`,
      claimedUntil: null,
      updatedAt: now,
      finishedAt: now,
    })
    .where(
      sql`id in (select deliveries.id from ${list} join deliveries on deliveries.id = item.value
          join integrations on integrations.id = deliveries.integration_id
        where ${isDueAndUnclaimed(now)}
          and (integrations.disabled_at is not null or not ${IS_CONFIRMED}
            or deliveries.attempts >= ${MAX_CLAIMS}))`,
    );
}

/** For a Slack channel, only the oldest. */
function claimDue(db: Database, list: SQL, now: number) {
  return db
    .update(deliveries)
    .set({
      attempts: sql`attempts + 1`,
      claimedUntil: now + CLAIM_MS,
      sweepAt: now + CLAIM_MS,
      updatedAt: now,
    })
    .where(
      sql`id in (select id from (
        select deliveries.id, integrations.type, row_number() over
            (partition by deliveries.integration_id order by deliveries.created_at, deliveries.id)
            as position
          from ${list} join deliveries on deliveries.id = item.value
          join integrations on integrations.id = deliveries.integration_id
          where ${isDueAndUnclaimed(now)} and integrations.disabled_at is null and ${IS_CONFIRMED}
            and (integrations.paused_until is null or integrations.paused_until <= ${now})
            and (integrations.type <> 'slack' or integrations.last_sent_at is null
              or integrations.last_sent_at <= ${now - SLACK_INTERVAL_MS})
        ) as ranked where type <> 'slack' or position = 1)`,
    )
    .returning({ id: deliveries.id });
}

function throttle(db: Database, list: SQL, now: number) {
  return db
    .update(integrations)
    .set({ lastSentAt: now })
    .where(
      sql`type = 'slack' and id in (select deliveries.integration_id from ${list}
        join deliveries on deliveries.id = item.value
          and deliveries.status = 'pending' and deliveries.claimed_until = ${now + CLAIM_MS})`,
    );
}

/**
 * Defers the deliveries that are due and were not claimed: until the pause of the integration is
 * over, or to a slot of their own behind the deliveries that wait for the same Slack channel.
 */
function defer(db: Database, list: SQL, now: number) {
  const lastSlot = sql`coalesce((select max(waiting.due_at) from deliveries as waiting
    where waiting.integration_id = deliveries.integration_id and waiting.status = 'pending'
      and waiting.attempts = 0 and waiting.due_at between ${now} and ${now + MAX_SLACK_SPREAD_MS}),
    ${now})`;
  return db
    .update(deliveries)
    .set({
      dueAt: sql`deferral.due_at`,
      sweepAt: sql`deferral.due_at + ${OVERDUE_MS}`,
      updatedAt: now,
    })
    .from(
      sql`(select deliveries.id as delivery_id, case when integrations.paused_until > ${now}
            then max(integrations.paused_until,
              ${now} + min((${now} - deliveries.created_at) / ${AGE_SHARE}, ${MAX_AGE_DELAY_MS}))
            else ${lastSlot} + ${SLACK_SPACING_MS} * row_number() over
              (partition by deliveries.integration_id order by deliveries.created_at, deliveries.id)
          end as due_at
        from ${list} join deliveries on deliveries.id = item.value
        join integrations on integrations.id = deliveries.integration_id
        where ${isDueAndUnclaimed(now)}) as deferral`,
    )
    .where(sql`${deliveries.id} = deferral.delivery_id`)
    .returning({ id: deliveries.id });
}

function listClaimed(db: Database, list: SQL) {
  return db
    .select({
      id: deliveries.id,
      organizationId: deliveries.organizationId,
      projectId: deliveries.projectId,
      integrationId: deliveries.integrationId,
      eventId: deliveries.eventId,
      eventType: sql<typeof deliveries.$inferSelect.type>`${deliveries.type}`.as("event_type"),
      data: deliveries.data,
      occurredAt: deliveries.occurredAt,
      status: deliveries.status,
      attempts: deliveries.attempts,
      recordedAttempts: sql<number>`(select count(*) from delivery_attempts
        where delivery_attempts.delivery_id = ${deliveries.id})`.as("recorded_attempts"),
      dueAt: deliveries.dueAt,
      claimedUntil: deliveries.claimedUntil,
      integrationType: sql<typeof integrations.$inferSelect.type>`${integrations.type}`.as(
        "integration_type",
      ),
      /** The project that the URL and the secrets were sealed for. */
      integrationProjectId: sql<string>`${integrations.projectId}`.as("integration_project_id"),
      url: integrations.url,
      secret: integrations.secret,
      previousSecret: integrations.previousSecret,
      previousSecretUntil: integrations.previousSecretUntil,
      linksTo: integrations.linksTo,
      failingSince: integrations.failingSince,
      integrationUpdatedAt: sql<number>`${integrations.updatedAt}`.as("integration_updated_at"),
    })
    .from(deliveries)
    .innerJoin(integrations, eq(integrations.id, deliveries.integrationId))
    .where(sql`${deliveries.id} in (select item.value from ${list})`);
}
