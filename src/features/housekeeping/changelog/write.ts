import { type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { AuditContext, AuditedAct } from "../audit/index.ts";
import { writeOutbox } from "../outbox/index.ts";
import { auditChanges } from "./audit.ts";
import { differenceBetween, isNoOp } from "./diff.ts";
import type { Change } from "./model.ts";
import { changelogEntries } from "./table.ts";

const TYPE = "changelog.created";

/** Without an actor, the change is by the service itself. */
type ChangelogContext = SystemContext & AuditContext;

export type Entry = ReturnType<typeof toEntries>[number];

export function toEntries({ clock }: SystemContext, changes: readonly Change[]) {
  return changes
    .filter((change) => !isNoOp(change))
    .map((change) => {
      const { before, after } = differenceBetween(change.before, change.after);
      return {
        id: newId(clock),
        ...change,
        before: before && JSON.stringify(before),
        after: after && JSON.stringify(after),
      };
    });
}

/** The fields before and after a change as JSON, for a change that only its batch can read. */
export interface WrittenFields {
  before: SQL;
  after: SQL;
}

export function insertEntries(
  { db, clock, actor }: ChangelogContext,
  organizationId: string | SQL,
  entries: readonly Entry[],
  { written, condition }: { written?: WrittenFields | undefined; condition: SQL },
) {
  const field = (path: string) => sql`item.value ->> ${sql.raw(`'$.${path}'`)}`;
  const newest = sql`select max(newest.created_at) from ${changelogEntries} as newest
    where newest.project_id = ${field("projectId")}`;
  return insertFrom(
    db,
    changelogEntries,
    {
      id: field("id"),
      organizationId,
      projectId: field("projectId"),
      accountId: actor?.accountId ?? null,
      membershipId: actor?.membershipId ?? null,
      keyId: actor && "keyId" in actor ? actor.keyId : null,
      action: field("action"),
      resourceType: field("record.type"),
      resourceId: field("record.id"),
      resourceName: field("record.name"),
      before: written?.before ?? field("before"),
      after: written?.after ?? field("after"),
      // Entries have the order of their commits, also if the clocks of two isolates differ.
      createdAt: sql`max(${clock.now()}, coalesce((${newest}) + 1, 0))`,
    },
    sql`from json_each(${JSON.stringify(entries)}) as item where ${condition}`,
  );
}

interface EventOptions {
  /** Whether each entry has an event of its own. */
  isSeparate?: boolean;
  /** A condition on `integrations` and `events`. */
  recipients?: SQL;
}

/**
 * Writes one event per request and project, with the entries that the batch has inserted. The first
 * entry is also at the top level, for receivers that read single entries.
 */
export function writeChangelogEvent(
  ctx: SystemContext,
  entries: readonly Entry[],
  { isSeparate = false, recipients }: EventOptions = {},
) {
  const group = isSeparate ? sql`changelog_entries.id` : sql`changelog_entries.project_id`;
  const ids = JSON.stringify(entries.map(({ id }) => id));
  const { changelogEventEntries: maximum, changelogEventName: nameLength } = LIMITS;
  return writeOutbox(
    ctx,
    sql`select request.key,  request.project_id, ${TYPE} as type,
        json_patch(request.entries -> '$[0]', json_object('account_id', request.account_id,
          'membership_id', request.membership_id, 'key_id', request.key_id, 'entries', json(request.entries), 'count', request.count)) as data
      from (
        select entry.key, entry.project_id, min(entry.account_id) as account_id,
          min(entry.membership_id) as membership_id, min(entry.key_id) as key_id, count(*) as count,
          json_group_array(json(entry.data) order by entry.position)
            filter (where entry.position <= ${maximum.value}) as entries
        from (
          select ${group} as key, changelog_entries.project_id, changelog_entries.account_id,
            changelog_entries.membership_id, changelog_entries.key_id, row_number() over (partition by ${group} order by item.key)
              as position,
            json_patch('{}', json_object('changelog_id', changelog_entries.id,
              'action', changelog_entries.action,
              'record', json_object('type', changelog_entries.record_type,
                'id', changelog_entries.record_id,
                'name', substr(changelog_entries.record_name, 1, ${nameLength.value})))) as data
          from json_each(${ids}) as item
          join changelog_entries on changelog_entries.id = item.value
        ) as entry
        group by entry.key, entry.project_id
      ) as request`,
    recipients,
  );
}

interface ChangesOptions {
  written?: WrittenFields | undefined;
  /** The audit entry of several changes, in place of one for each. */
  together?: AuditedAct | undefined;
}

/** Writes nothing unless `origin`, a statement of the batch, has changed a row. */
export function writeChanges(
  ctx: ChangelogContext,
  organizationId: string,
  changes: readonly Change[],
  origin: Statement,
  { written, together }: ChangesOptions = {},
) {
  const entries = toEntries(ctx, changes);
  return {
    audit: after(origin, (condition) =>
      auditChanges(ctx, organizationId, changes, condition, together),
    ),
    entries: after(origin, (condition) =>
      insertEntries(ctx, organizationId, entries, { written, condition }),
    ),
    event: writeChangelogEvent(ctx, entries),
  };
}
