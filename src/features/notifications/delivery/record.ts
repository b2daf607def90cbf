import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { commit, runBatch } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { recordChanges } from "../../changelog/index.ts";
import type { DisabledReason } from "../integrations/index.ts";
import { integrations } from "../integrations/table.ts";
import { OVERDUE_MS } from "../outbox/model.ts";
import { deliveries, deliveryAttempts } from "../outbox/table.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { Attempt, Failure } from "./outcome.ts";
import { FAILING_MS, pauseUntil, retryAt } from "./retry-schedule.ts";

export interface RecordingContext extends SystemContext {
  /** At least 0, less than 1. */
  random(): number;
}

interface FailedAttempt {
  /** Undefined after the last attempt. */
  retryAt: number | undefined;
  pausedUntil: number | undefined;
  isGone: boolean;
}

/**
 * Returns when the delivery is retried, if it is, and if no other consumer has claimed it in the
 * meantime.
 */
export async function recordAttempt(
  ctx: RecordingContext,
  claimed: ClaimedDelivery,
  attempt: Attempt,
): Promise<number | undefined> {
  const { outcome } = attempt;
  if (outcome.success) return recordSuccess(ctx, claimed, attempt);
  return recordFailure(ctx, claimed, attempt, outcome);
}

async function recordSuccess(ctx: RecordingContext, claimed: ClaimedDelivery, attempt: Attempt) {
  await runBatch(ctx.db, {
    delivery: succeedDelivery(ctx.db, claimed, ctx.clock.now()),
    attempt: insertAttempt(ctx.db, claimed, attempt),
    integration: markHealthy(ctx.db, claimed),
  });
  return undefined;
}

async function recordFailure(
  ctx: RecordingContext,
  claimed: ClaimedDelivery,
  attempt: Attempt,
  failure: Failure,
): Promise<number | undefined> {
  const { db, clock } = ctx;
  const now = clock.now();
  const failed = toFailedAttempt(ctx, claimed, attempt, failure);
  // One failure after days without a delivery proves little: the retry has to fail too.
  const hasFailedForDays =
    claimed.recordedAttempts > 0 && now - (claimed.failingSince ?? now) >= FAILING_MS;
  const reason = failed.isGone ? "gone" : "failing";
  const results = await commit(ctx, {
    delivery: failDelivery(db, claimed, failed, now),
    attempt: insertAttempt(db, claimed, attempt),
    integration: markFailing(db, claimed, failed, now),
    disabled:
      failed.isGone || hasFailedForDays ? disableIntegration(ctx, claimed, reason, now) : undefined,
  });
  return results.delivery[0]?.status === "pending" ? failed.retryAt : undefined;
}

function toFailedAttempt(
  { clock, random }: RecordingContext,
  { recordedAttempts }: ClaimedDelivery,
  { notBefore }: Attempt,
  { isGone, isThrottled }: Failure,
): FailedAttempt {
  const now = clock.now();
  const dueAt = retryAt(recordedAttempts + 1, now, { random, notBefore });
  const pausedUntil = isThrottled ? pauseUntil(now, dueAt, notBefore) : undefined;
  return { retryAt: dueAt, pausedUntil, isGone };
}

/** A success counts even if another consumer has claimed the delivery in the meantime. */
function succeedDelivery(db: Database, claimed: ClaimedDelivery, now: number) {
  return db
    .update(deliveries)
    .set({ status: "succeeded", claimedUntil: null, updatedAt: now, finishedAt: now })
    .where(and(eq(deliveries.id, claimed.id), sql`${deliveries.status} = 'pending'`))
    .returning({ id: deliveries.id });
}

/**
 * A failure counts only if no other consumer has claimed the delivery in the meantime; a 410, only
 * if the integration is unchanged.
 */
function failDelivery(
  db: Database,
  claimed: ClaimedDelivery,
  { retryAt: dueAt, isGone }: FailedAttempt,
  now: number,
) {
  const isStillGone = sql`exists (select 1 from integrations where ${isUnchanged(claimed)})`;
  const isFinal = dueAt === undefined ? sql`true` : isGone ? isStillGone : sql`false`;
  return db
    .update(deliveries)
    .set({
      status: sql`case when ${isFinal} then 'failed' else 'pending' end`,
      finishedAt: sql`case when ${isFinal} then ${now} end`,
      dueAt: dueAt ?? 0,
      sweepAt: (dueAt ?? 0) + OVERDUE_MS,
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
function insertAttempt(db: Database, claimed: ClaimedDelivery, attempt: Attempt) {
  const { startedAt, durationMs, statusCode = null, outcome, response } = attempt;
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
      error: outcome.success ? null : outcome.error,
      response: response || null,
    },
    sql`from deliveries where id = ${claimed.id}`,
  ).onConflictDoNothing();
}

function markHealthy(db: Database, claimed: ClaimedDelivery) {
  return db
    .update(integrations)
    .set({ failingSince: null })
    .where(and(eq(integrations.id, claimed.integrationId), isNotNull(integrations.failingSince)));
}

/** Pauses never shorten each other. */
function markFailing(
  db: Database,
  claimed: ClaimedDelivery,
  { pausedUntil }: FailedAttempt,
  now: number,
) {
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

function disableIntegration(
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

/** No two sealed URLs are equal. */
function isUnchanged({ integrationId, integrationUpdatedAt, url }: ClaimedDelivery) {
  return sql`integrations.id = ${integrationId} and integrations.url = ${url}
    and integrations.updated_at = ${integrationUpdatedAt} and integrations.disabled_at is null`;
}
