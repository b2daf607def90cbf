import { sql } from "drizzle-orm";
import type { Actor, SystemContext } from "../../context.ts";
import { changelogEntries } from "../../db/schema.ts";
import { newId } from "../../lib/ids.ts";
import { type Change, changesNothing, differenceBetween } from "./changes.ts";
import { KIND_OF } from "./kinds.ts";
import { fanOut } from "./store.ts";

const TYPE = "changelog.created";

/**
 * The changelog entries of a change, and the event that tells of each: for the batch that makes the
 * change, right after the statement that does, for they are written only if that has changed a row.
 * To replace a record with what it is already is no change. Without an actor, the service itself
 * has made it.
 */
export function recordChanges(
  ctx: SystemContext & { actor?: Actor },
  organizationId: string,
  changes: readonly Change[],
) {
  const { db, clock, actor } = ctx;
  const entries = changes
    .filter((change) => !changesNothing(change))
    .map((change) => {
      const difference = differenceBetween(change.before, change.after);
      // As text: SQLite refuses JSON that nests over 1000 levels.
      const before = difference.before && JSON.stringify(difference.before);
      const after = difference.after && JSON.stringify(difference.after);
      return { id: newId(clock), ...change, before, after };
    });
  const ids = entries.map(({ id }) => id);
  const field = (path: string) => sql`item.value ->> ${sql.raw(`'$.${path}'`)}`;
  return [
    db.insert(changelogEntries).select(
      sql`select ${field("id")}, ${organizationId}, ${field("projectId")},
          ${actor?.accountId ?? null}, ${actor?.membershipId ?? null}, ${actor?.keyId ?? null},
          ${field("action")}, ${field("record.type")}, ${field("record.id")},
          ${field("record.name")}, ${field("before")}, ${field("after")}, ${clock.now()}
        from json_each(${JSON.stringify(entries)}) as item where changes() > 0`,
    ),
    fanOut(
      ctx,
      sql`select written.id as key, written.project_id, ${TYPE} as type,
          ${KIND_OF[TYPE]} as kind,
          json_patch('{}', json_object('changelog_id', written.id, 'action', written.action,
            'record', json_object('type', written.record_type, 'id', written.record_id,
              'name', written.record_name),
            'account_id', written.account_id)) as data
        from json_each(${JSON.stringify(ids)}) as item
        join changelog_entries as written on written.id = item.value`,
    ),
  ] as const;
}

/** The same of what the actor does to one record. */
export function recordChange(ctx: SystemContext & { actor: Actor }, change: Change) {
  return recordChanges(ctx, ctx.actor.organizationId, [change]);
}
