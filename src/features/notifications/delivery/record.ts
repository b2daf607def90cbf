import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { recordChanges } from "../../changelog/index.ts";
import type { DisabledReason } from "../integrations/index.ts";
import { integrations } from "../integrations/table.ts";
import { deliveries, deliveryAttempts } from "../outbox/table.ts";
import { type ClaimedDelivery, OVERDUE_MS } from "./claim.ts";
import { FAILING_MS } from "./retry-schedule.ts";

/** What happened when a delivery was sent. */
export interface Attempt {
  startedAt: number;
  durationMs: number;
  statusCode?: number;
  error?: string;
  response?: string;
}

/** What an attempt that failed leads to. */
export interface FailedAttempt {
  /** When the delivery is sent again, if it is. */
  dueAt: number | undefined;
  /** Whether it was the last attempt. */
  isLast: boolean;
  /** Until when nothing is sent to the integration. */
  pausedUntil: number | undefined;
  isGone: boolean;
}

/** An arrival counts whoever has brought it about, as long as the delivery is pending. */
export function succeed(db: Database, claimed: ClaimedDelivery, now: number) {
  return db
    .update(deliveries)
    .set({ status: "succeeded", claimedUntil: null, updatedAt: now, finishedAt: now })
    .where(and(eq(deliveries.id, claimed.id), sql`${deliveries.status} = 'pending'`))
    .returning({ id: deliveries.id });
}

/**
 * A failure counts only if nobody else has claimed the delivery in the meantime. That an endpoint is
 * gone ends it only while the integration is what it was: else there is another one to ask.
 */
export function fail(
  db: Database,
  claimed: ClaimedDelivery,
  { dueAt = 0, isGone, isLast }: FailedAttempt,
  now: number,
) {
  const isUnlessChanged = sql`exists (select 1 from integrations where ${isUnchanged(claimed)})`;
  const isOver = isLast ? sql`true` : isGone ? isUnlessChanged : sql`false`;
  return db
    .update(deliveries)
    .set({
      status: sql`case when ${isOver} then 'failed' else 'pending' end`,
      finishedAt: sql`case when ${isOver} then ${now} end`,
      dueAt,
      sweepAt: dueAt + OVERDUE_MS,
      claimedUntil: null,
      updatedAt: now,
    })
    .where(
      and(
        eq(deliveries.id, claimed.id),
        sql`${deliveries.status} = 'pending'`,
        eq(deliveries.attempts, claimed.attempts),
      ),
    )
    .returning({ status: deliveries.status });
}

/** Selects from the delivery, which may have been deleted while it was sent. */
export function insertAttempt(db: Database, claimed: ClaimedDelivery, attempt: Attempt) {
  const { startedAt, durationMs, statusCode = null, error = null, response = null } = attempt;
  return insertFrom(
    db,
    deliveryAttempts,
    {
      deliveryId: sql`id`,
      number: claimed.attempts,
      organizationId: sql`organization_id`,
      startedAt,
      durationMs,
      statusCode,
      error,
      response,
    },
    sql`from deliveries where id = ${claimed.id}`,
  ).onConflictDoNothing();
}

export function endFailing(db: Database, claimed: ClaimedDelivery) {
  return db
    .update(integrations)
    .set({ failingSince: null })
    .where(and(eq(integrations.id, claimed.integrationId), isNotNull(integrations.failingSince)));
}

/** Whether an integration is as it was when it was sent to: a sealed URL is never written twice. */
const isUnchanged = ({ integrationId, integrationUpdatedAt, url }: ClaimedDelivery) =>
  sql`integrations.id = ${integrationId} and integrations.url = ${url}
    and integrations.updated_at = ${integrationUpdatedAt} and integrations.disabled_at is null`;

export function beginFailing(
  db: Database,
  claimed: ClaimedDelivery,
  failed: FailedAttempt,
  now: number,
) {
  const { pausedUntil } = failed;
  return db
    .update(integrations)
    .set({
      failingSince: sql`coalesce(${integrations.failingSince}, ${now})`,
      ...(pausedUntil !== undefined && {
        pausedUntil: sql`max(coalesce(${integrations.pausedUntil}, 0), ${pausedUntil})`,
      }),
    })
    .where(isUnchanged(claimed));
}

/** Disables an integration for good reason, and says so in the changelog of its project. */
export function disable(
  ctx: SystemContext,
  claimed: ClaimedDelivery,
  reason: DisabledReason,
  now: number,
) {
  const hasReason =
    reason === "gone" ? sql`true` : sql`${integrations.failingSince} <= ${now - FAILING_MS}`;
  const { organizationId, projectId, integrationId: id } = claimed;
  return {
    integration: ctx.db
      .update(integrations)
      .set({ disabledAt: now, disabledReason: reason, updatedAt: now })
      .where(and(isUnchanged(claimed), hasReason)),
    changelog: recordChanges(ctx, organizationId, [
      {
        projectId,
        action: "disabled",
        record: { type: "integration", id },
        before: {},
        after: { disabled_at: toTimestamp(now), disabled_reason: reason },
      },
    ]),
  };
}
