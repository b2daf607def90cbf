import { type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { writeChanges } from "../../housekeeping/changelog/index.ts";
import { integrations } from "../../housekeeping/outbox/integration-table.ts";
import type { DisabledReason } from "../../housekeeping/outbox/model.ts";
import { deliveries, deliveryAttempts } from "../../housekeeping/outbox/table.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { DeliveryAttempt, Failure } from "./outcome.ts";
import { type FailedIntegration, notifyOwners } from "./owner-notifications.ts";
import { FAILING_MS, pauseUntil, retryAt } from "./retry-schedule.ts";

export interface AttemptContext extends SystemContext {
  /** At least 0, less than 1. */
  random(): number;
}

/** A claimed delivery, and the delivery attempt that was made. */
export interface SentDelivery {
  claimed: ClaimedDelivery;
  attempt: DeliveryAttempt;
  /** Undefined after a success, and after the last delivery attempt. */
  retryAt: number | undefined;
  /** Undefined unless the endpoint is overloaded. */
  pausedUntil: number | undefined;
}

export function toSent(
  { clock, random }: AttemptContext,
  claimed: ClaimedDelivery,
  attempt: DeliveryAttempt,
): SentDelivery {
  const { outcome, notBefore } = attempt;
  if (outcome.success) return { claimed, attempt, retryAt: undefined, pausedUntil: undefined };
  const now = clock.now();
  const dueAt = retryAt(claimed.earlierAttempts + 1, now, { random, notBefore });
  const pausedUntil = outcome.isThrottled ? pauseUntil(now, dueAt, notBefore) : undefined;
  return { claimed, attempt, retryAt: dueAt, pausedUntil };
}

/** The statements that write delivery attempts, in the order in which they ended. */
export function writeAttempts(ctx: SystemContext, sent: readonly SentDelivery[]): Statements {
  if (sent.length === 0) return {};
  const { db, clock } = ctx;
  const now = clock.now();
  const failed = sent.flatMap((each) => {
    const { outcome } = each.attempt;
    return outcome.success ? [] : [{ ...each, failure: outcome }];
  });
  const succeeded = sent.filter(({ attempt }) => attempt.outcome.success);
  const hasFailed = failed.length > 0;
  return {
    attempts: insertAttempts(db, sent),
    succeeded: succeeded.length > 0 ? succeedDeliveries(db, succeeded, now) : undefined,
    healthy: succeeded.length > 0 ? markHealthy(db, succeeded) : undefined,
    failed: hasFailed ? failDeliveries(db, failed, now) : undefined,
    failing: hasFailed ? markFailing(db, sent, now) : undefined,
    disabled: Object.fromEntries(
      failed.flatMap((each) => {
        const reason = reasonToDisable(each, now);
        const { integrationId } = each.claimed;
        return reason
          ? [[`integration ${integrationId}`, disableIntegration(ctx, each, reason, now)]]
          : [];
      }),
    ),
    notified: notifyOwners(ctx, failed.map(toFailedIntegration), now),
  };
}

function toFailedIntegration({ claimed, pausedUntil }: FailedDelivery): FailedIntegration {
  const { integrationId, organizationId, projectId, earlierAttempts } = claimed;
  return { integrationId, organizationId, projectId, earlierAttempts, pausedUntil };
}

interface FailedDelivery extends SentDelivery {
  failure: Failure;
}

/** Joins with the deliveries, which may have been deleted while they were sent. */
function insertAttempts(db: Database, sent: readonly SentDelivery[]) {
  const items = sent.map(({ claimed, attempt }) => {
    const { startedAt, durationMs, statusCode, outcome, response } = attempt;
    const error = outcome.success ? undefined : outcome.error;
    return {
      ...{ id: claimed.id, number: claimed.attempts, startedAt, durationMs, statusCode, error },
      response: response || undefined,
    };
  });
  return insertFrom(
    db,
    deliveryAttempts,
    {
      deliveryId: sql`deliveries.id`,
      number: field("number"),
      organizationId: sql`deliveries.organization_id`,
      startedAt: field("startedAt"),
      durationMs: field("durationMs"),
      statusCode: field("statusCode"),
      error: field("error"),
      response: field("response"),
    },
    sql`${fromItems(items)} join deliveries on deliveries.id = ${field("id")} where true`,
  ).onConflictDoNothing();
}

/** A success counts even if another consumer has claimed the delivery in the meantime. */
function succeedDeliveries(db: Database, succeeded: readonly SentDelivery[], now: number) {
  const items = succeeded.map(({ claimed }) => ({ id: claimed.id }));
  return db
    .update(deliveries)
    .set({ status: "succeeded", updatedAt: now, finishedAt: now })
    .where(
      sql`${deliveries.id} in (select ${field("id")} ${fromItems(items)})
        and ${deliveries.status} = 'pending'`,
    );
}

/**
 * A failure counts only if no other consumer has claimed the delivery in the meantime; a 410, only
 * if the integration is unchanged.
 */
function failDeliveries(db: Database, failed: readonly FailedDelivery[], now: number) {
  const items = failed.map(({ claimed, retryAt: dueAt, failure }) => ({
    ...{ id: claimed.id, number: claimed.attempts, dueAt, isGone: failure.isGone },
    ...versionOf(claimed),
  }));
  const isFinal = sql`(${field("dueAt")} is null or ${field("isGone")}
    and exists (select 1 from integrations where ${isUnchanged()}))`;
  return db
    .update(deliveries)
    .set({
      status: sql`case when ${isFinal} then 'failed' else 'pending' end`,
      finishedAt: sql`case when ${isFinal} then ${now} end`,
      dueAt: sql`coalesce(${field("dueAt")}, ${now})`,
      updatedAt: now,
    })
    .from(sql`(select item.value ${fromItems(items)}) as item`)
    .where(
      sql`${deliveries.id} = ${field("id")} and ${deliveries.status} = 'pending'
        and ${deliveries.attempts} = ${field("number")}`,
    );
}

function markHealthy(db: Database, succeeded: readonly SentDelivery[]) {
  const ids = [...new Set(succeeded.map(({ claimed }) => claimed.integrationId))];
  return db
    .update(integrations)
    .set({ failingSince: null })
    .where(
      sql`${integrations.id} in (select value from json_each(${JSON.stringify(ids)}))
        and ${integrations.failingSince} is not null`,
    );
}

/** Marks the integrations whose last delivery attempt failed. Pauses never shorten each other. */
function markFailing(db: Database, sent: readonly SentDelivery[], now: number) {
  const last = new Map(sent.map((each) => [each.claimed.integrationId, each]));
  const items = [...last.values()]
    .filter(({ attempt }) => !attempt.outcome.success)
    .map(({ claimed: { integrationId } }) => {
      const pauses = sent.flatMap(({ claimed, pausedUntil }) =>
        claimed.integrationId === integrationId && pausedUntil !== undefined ? [pausedUntil] : [],
      );
      const pausedUntil = pauses.length > 0 ? Math.max(...pauses) : undefined;
      return { pausedUntil, ...versionOf(last.get(integrationId)?.claimed) };
    });
  return db
    .update(integrations)
    .set({
      failingSince: sql`coalesce(${integrations.failingSince}, ${now})`,
      pausedUntil: sql`nullif(max(coalesce(${integrations.pausedUntil}, 0),
        coalesce(${field("pausedUntil")}, 0)), 0)`,
    })
    .from(sql`(select item.value ${fromItems(items)}) as item`)
    .where(isUnchanged());
}

function reasonToDisable(
  { claimed, failure }: FailedDelivery,
  now: number,
): DisabledReason | undefined {
  if (failure.isGone) return "gone";
  // One failure after days without a delivery proves little: the retry has to fail too.
  const hasFailedForDays =
    claimed.earlierAttempts > 0 && now - (claimed.failingSince ?? now) >= FAILING_MS;
  return hasFailedForDays ? "failing" : undefined;
}

function disableIntegration(
  ctx: SystemContext,
  { claimed }: FailedDelivery,
  reason: DisabledReason,
  now: number,
): Statements {
  const hasReason =
    reason === "gone" ? sql`true` : sql`${integrations.failingSince} <= ${now - FAILING_MS}`;
  const { organizationId, projectId, integrationId: id } = claimed;
  const disabled = ctx.db
    .update(integrations)
    .set({ disabledAt: now, disabledReason: reason, updatedAt: now })
    .where(
      sql`${integrations.id} in (select integrations.id
        ${fromItems([versionOf(claimed)])}, integrations where ${isUnchanged()} and ${hasReason})`,
    );
  const change = {
    projectId,
    action: "disabled",
    record: { type: "integration", id },
    before: {},
    after: { disabled_at: toTimestamp(now), disabled_reason: reason },
  } as const;
  return { disabled, changelog: writeChanges(ctx, organizationId, [change], disabled) };
}

function fromItems(items: readonly object[]): SQL {
  return sql`from json_each(${JSON.stringify(items)}) as item`;
}

function field(name: string): SQL {
  return sql`(item.value ->> ${sql.raw(`'$.${name}'`)})`;
}

/** No two sealed URLs are equal. */
function versionOf(claimed: ClaimedDelivery | undefined) {
  const { integrationId, url, integrationUpdatedAt } = claimed ?? {};
  return { integrationId, url, integrationUpdatedAt };
}

/** Whether the integration of an item, with `versionOf`, is as it was when it was claimed. */
function isUnchanged(): SQL {
  return sql`integrations.id = ${field("integrationId")} and integrations.url = ${field("url")}
    and integrations.updated_at = ${field("integrationUpdatedAt")}
    and integrations.disabled_at is null`;
}
