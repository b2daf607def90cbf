import { type SQL, sql } from "drizzle-orm";
import type { Actor, SystemContext } from "../../context.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { KIND_OF } from "../notifications/kinds.ts";
import { writeOutbox } from "../notifications/outbox/index.ts";
import { type Change, differenceBetween, isNoOp } from "./diff.ts";
import { changelogEntries } from "./table.ts";

const TYPE = "changelog.created";

type ChangelogContext = SystemContext & { actor?: Actor };

/** A changelog entry to be written. */
export type Entry = ReturnType<typeof toEntries>[number];

/** The changelog entries of changes, without those that change nothing. */
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

/** The fields before and after a change as JSON, where only the batch of the change knows them. */
export interface WrittenFields {
  before: SQL;
  after: SQL;
}

/**
 * Inserts changelog entries, right after the statement that makes their changes: only if that has
 * changed a row. Without an actor, the service itself has made the changes.
 */
export function insertEntries(
  { db, clock, actor }: ChangelogContext,
  organizationId: string,
  entries: readonly Entry[],
  written?: WrittenFields,
) {
  const field = (path: string) => sql`item.value ->> ${sql.raw(`'$.${path}'`)}`;
  return db.insert(changelogEntries).select(
    sql`select ${field("id")}, ${organizationId}, ${field("projectId")},
        ${actor?.accountId ?? null}, ${actor?.membershipId ?? null}, ${actor?.keyId ?? null},
        ${field("action")}, ${field("record.type")}, ${field("record.id")},
        ${field("record.name")}, ${written?.before ?? field("before")},
        ${written?.after ?? field("after")}, ${clock.now()}
      from json_each(${JSON.stringify(entries)}) as item where changes() > 0`,
  );
}

/**
 * The one event of a request, about those of its entries that were inserted before in the same
 * batch. The first of them is at the top level too, as in events about a single entry.
 */
export function writeChangelogEvent(ctx: SystemContext, entries: readonly Entry[]) {
  const ids = JSON.stringify(entries.map(({ id }) => id));
  const { changelogEventEntries: most, changelogEventName: nameLength } = LIMITS;
  return writeOutbox(
    ctx,
    sql`select of_request.project_id as key, of_request.project_id, ${TYPE} as type,
        ${KIND_OF[TYPE]} as kind,
        json_patch(of_request.entries -> '$[0]', json_object('account_id', of_request.account_id,
          'entries', json(of_request.entries), 'count', of_request.count)) as data
      from (
        select of_entry.project_id, min(of_entry.account_id) as account_id, count(*) as count,
          json_group_array(json(of_entry.data) order by of_entry.place)
            filter (where of_entry.place <= ${most.value}) as entries
        from (
          select written.project_id, written.account_id,
            row_number() over (partition by written.project_id order by item.key) as place,
            json_patch('{}', json_object('changelog_id', written.id, 'action', written.action,
              'record', json_object('type', written.record_type, 'id', written.record_id,
                'name', substr(written.record_name, 1, ${nameLength.value})))) as data
          from json_each(${ids}) as item
          join changelog_entries as written on written.id = item.value
        ) as of_entry
        group by of_entry.project_id
      ) as of_request`,
  );
}

/** The changelog entries of the statement before, and their event. */
export function recordChanges(
  ctx: ChangelogContext,
  organizationId: string,
  changes: readonly Change[],
  written?: WrittenFields,
) {
  const entries = toEntries(ctx, changes);
  return [
    insertEntries(ctx, organizationId, entries, written),
    writeChangelogEvent(ctx, entries),
  ] as const;
}

/** The same of what the actor does to one record. */
export function recordChange(
  ctx: SystemContext & { actor: Actor },
  change: Change,
  written?: WrittenFields,
) {
  return recordChanges(ctx, ctx.actor.organizationId, [change], written);
}
