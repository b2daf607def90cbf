import { sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  type Change,
  insertEntries,
  toEntries,
  writeChangelogEvent,
} from "../../housekeeping/changelog/index.ts";
import { integrations } from "../../housekeeping/outbox/integration-table.ts";

/** A delivery attempt of the integration has failed. */
export interface FailedIntegration {
  integrationId: string;
  organizationId: string;
  projectId: string;
  /** Undefined if this delivery attempt does not pause the integration. */
  pausedUntil?: number | undefined;
  /** Delivery attempts of the same delivery before this one. */
  earlierAttempts: number;
}

export const LONG_PAUSE_MS = 3_600_000;
const INTERVAL_MS = LIMITS.ownerNotificationMs.value;

/**
 * Tells the project that an integration has begun to fail, or pauses for over an hour: a changelog
 * entry by the service, and its event for the other integrations. Each at most once in 24 hours.
 * They follow the statements that set `failing_since` and `paused_until`, in the same batch.
 * @param now The time that those statements use.
 */
export function notifyOwners(
  ctx: SystemContext,
  failed: readonly FailedIntegration[],
  now: number,
) {
  const entries = toEntries(ctx, toChanges(failed, now));
  if (entries.length === 0) return {};
  const item = (path: string) => sql`item.value ->> ${sql.raw(`'$.${path}'`)}`;
  const integration = sql`from integrations where integrations.id = ${item("record.id")}`;
  // An earlier attempt has failed, with no success since.
  const hasBegunToFail = sql`integrations.failing_since < ${now}
    and (integrations.failure_notified_at is null
      or integrations.failure_notified_at < integrations.failing_since
        and integrations.failure_notified_at <= ${now - INTERVAL_MS})`;
  const pausesForLong = sql`integrations.paused_until > ${now + LONG_PAUSE_MS}
    and (integrations.pause_notified_at is null
      or integrations.pause_notified_at <= ${now - INTERVAL_MS})`;
  const isFailing = sql`${item("action")} = 'failing'`;
  const written = sql`(select changelog_entries.record_id from changelog_entries
    where changelog_entries.id in (select ${item("id")} from
      json_each(${JSON.stringify(entries)}) as item where ${isFailing}))`;
  const writtenPauses = sql`(select changelog_entries.record_id from changelog_entries
    where changelog_entries.id in (select ${item("id")} from
      json_each(${JSON.stringify(entries)}) as item where not ${isFailing}))`;
  return {
    entries: insertEntries(
      ctx,
      sql`(select integrations.organization_id ${integration})`,
      entries,
      {
        written: {
          before: sql`'{}'`,
          after: sql`(select iif(${isFailing},
            json_object('failing_since', ${timestamp("failing_since")}),
            json_object('paused_until', ${timestamp("paused_until")})) ${integration})`,
        },
        condition: sql`exists (select 1 ${integration} and integrations.disabled_at is null
        and iif(${isFailing}, ${hasBegunToFail}, ${pausesForLong}))`,
      },
    ),
    failing: ctx.db
      .update(integrations)
      .set({ failureNotifiedAt: now })
      .where(sql`${integrations.id} in ${written}`),
    paused: ctx.db
      .update(integrations)
      .set({ pauseNotifiedAt: now })
      .where(sql`${integrations.id} in ${writtenPauses}`),
    event: writeChangelogEvent(ctx, entries, {
      isSeparate: true,
      recipients: sql`integrations.id <> events.data ->> '$.record.id'`,
    }),
  };
}

/** At most two for each integration. A delivery may fail by chance: its retry has to fail too. */
function toChanges(failed: readonly FailedIntegration[], now: number): Change[] {
  const byKey = failed.flatMap((each) => {
    const { projectId, integrationId, earlierAttempts, pausedUntil = 0 } = each;
    const record = { type: "integration" as const, id: integrationId };
    const change = (action: "failing" | "paused") =>
      [`${action} ${integrationId}`, { projectId, action, record, before: {}, after: {} }] as const;
    return [
      ...(earlierAttempts > 0 ? [change("failing")] : []),
      ...(pausedUntil > now + LONG_PAUSE_MS ? [change("paused")] : []),
    ];
  });
  return [...new Map(byKey).values()];
}

/** RFC 3339, in UTC with milliseconds. */
function timestamp(column: "failing_since" | "paused_until") {
  const time = sql.raw(`integrations.${column}`);
  return sql`strftime('%Y-%m-%dT%H:%M:%S', ${time} / 1000, 'unixepoch')
    || printf('.%03dZ', ${time} % 1000)`;
}
