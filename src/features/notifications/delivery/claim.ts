import { eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { integrations } from "../integrations/table.ts";
import type { FailureReason } from "../outbox/model.ts";
import { deliveries } from "../outbox/table.ts";

/** Bounds crashes: a delivery that is enqueued anew is a new message, which the queue counts anew. */
const MAX_CLAIMS = LIMITS.deliveryClaims.value;
/** So long a claim holds: longer than any attempt takes. If nobody ends it, it lapses. */
export const CLAIM_MS = 60_000;
/** If the queue does not ring for what is due, the sweep does so much later. */
export const OVERDUE_MS = 60_000;
/**
 * What waits for an integration to have rested comes back after a share of its age, if that is later,
 * so that a long line is not looked at as a whole each time.
 */
const AGE_SHARE = 10;
const MAX_SPREAD_MS = 600_000;
/** Slack takes one message a second for a channel. */
const SLACK_PACE_MS = 1_000;
/** Those that wait for it stand so far apart: a message that is a little late delays nobody else. */
const SLACK_GAP_MS = 1_100;
/** What waits for Slack's pace is spread over no longer than this. */
const SLACK_SPREAD_MS = 600_000;

/** A delivery that a message of the queue names, with its integration, after the claim. */
export type ClaimedDelivery = Awaited<ReturnType<typeof listClaimed>>[number];

/**
 * Claims what may be sent of these deliveries, by compare-and-set, for one batch: what of them goes
 * to a disabled integration, or was begun too often, has failed, and what has to wait for its
 * integration is put off.
 */
export function claim(db: Database, ids: readonly string[], now: number) {
  const list = sql`json_each(${JSON.stringify(ids)}) as item`;
  return {
    failed: giveUp(db, list, now),
    claimed: claimReady(db, list, now),
    throttle: keepPace(db, list, now),
    deferred: putOff(db, list, now),
    deliveries: listClaimed(db, list),
  };
}

/** Whether a delivery is due and nobody is at it. */
function isReady(table: string, now: number): SQL {
  const of = sql.raw(table);
  return sql`${of}.status = 'pending' and ${of}.due_at <= ${now}
    and (${of}.claimed_until is null or ${of}.claimed_until <= ${now})`;
}

function giveUp(db: Database, list: SQL, now: number) {
  const disabled: FailureReason = "integration_disabled";
  const tooMany: FailureReason = "too_many_attempts";
  return db
    .update(deliveries)
    .set({
      status: "failed",
      failureReason: sql`(select iif(target.disabled_at is null, ${tooMany}, ${disabled})
        from integrations as target where target.id = ${deliveries.integrationId})`,
      claimedUntil: null,
      updatedAt: now,
      finishedAt: now,
    })
    .where(
      sql`id in (select ready.id from ${list} join deliveries as ready on ready.id = item.value
          join integrations as target on target.id = ready.integration_id
        where ${isReady("ready", now)}
          and (target.disabled_at is not null or ready.attempts >= ${MAX_CLAIMS}))`,
    );
}

/** Claims what may go now: of those to one Slack channel, the oldest. */
function claimReady(db: Database, list: SQL, now: number) {
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
        select ready.id, target.type, row_number() over
            (partition by ready.integration_id order by ready.created_at, ready.id) as place
          from ${list} join deliveries as ready on ready.id = item.value
          join integrations as target on target.id = ready.integration_id
          where ${isReady("ready", now)} and target.disabled_at is null
            and (target.paused_until is null or target.paused_until <= ${now})
            and (target.type <> 'slack' or target.last_sent_at is null
              or target.last_sent_at <= ${now - SLACK_PACE_MS})
        ) as of_ready where type <> 'slack' or place = 1)`,
    )
    .returning({ id: deliveries.id });
}

function keepPace(db: Database, list: SQL, now: number) {
  return db
    .update(integrations)
    .set({ lastSentAt: now })
    .where(
      sql`type = 'slack' and id in (select claimed.integration_id from ${list}
        join deliveries as claimed on claimed.id = item.value
          and claimed.status = 'pending' and claimed.claimed_until = ${now + CLAIM_MS})`,
    );
}

/**
 * What is ready still has to wait: until the pause of its integration is over, or for a second of
 * its own behind what waits for the same channel.
 */
function putOff(db: Database, list: SQL, now: number) {
  const lastInLine = sql`coalesce((select max(waiting.due_at) from deliveries as waiting
    where waiting.integration_id = ready.integration_id and waiting.status = 'pending'
      and waiting.attempts = 0 and waiting.due_at between ${now} and ${now + SLACK_SPREAD_MS}),
    ${now})`;
  return db
    .update(deliveries)
    .set({ dueAt: sql`later.moment`, sweepAt: sql`later.moment + ${OVERDUE_MS}`, updatedAt: now })
    .from(
      sql`(select ready.id as ready_id, case when target.paused_until > ${now}
            then max(target.paused_until,
              ${now} + min((${now} - ready.created_at) / ${AGE_SHARE}, ${MAX_SPREAD_MS}))
            else ${lastInLine} + ${SLACK_GAP_MS} * row_number() over
              (partition by ready.integration_id order by ready.created_at, ready.id)
          end as moment
        from ${list} join deliveries as ready on ready.id = item.value
        join integrations as target on target.id = ready.integration_id
        where ${isReady("ready", now)}) as later`,
    )
    .where(sql`${deliveries.id} = later.ready_id`)
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
      recordedAttempts: sql<number>`(select count(*) from delivery_attempts as made
        where made.delivery_id = ${deliveries.id})`.as("recorded_attempts"),
      dueAt: deliveries.dueAt,
      claimedUntil: deliveries.claimedUntil,
      integrationType: sql<typeof integrations.$inferSelect.type>`${integrations.type}`.as(
        "integration_type",
      ),
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
