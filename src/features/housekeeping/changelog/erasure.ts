import { type Column, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import type { ManyRows } from "../../../db/row-pages.ts";
import { events } from "../outbox/table.ts";
import { changelogEntries } from "./table.ts";

const PERSONAL_PATHS = sql.raw("'$.name', '$.display_name', '$.avatar', '$.profile'");

// In full, because SQLite uses a partial index only for its own condition.
const isMember = sql`record_type = 'project_member'`;

/** The projects with entries about memberships. */
export function listProjectsOfMembers(db: Database, ids: readonly string[]) {
  const { projectId, resourceId } = changelogEntries;
  return db
    .selectDistinct({ id: projectId })
    .from(changelogEntries)
    .where(
      sql`${isMember} and ${resourceId} in (select value from json_each(${JSON.stringify(ids)}))`,
    );
}

/**
 * The entries about a person's memberships, and their events, without the person. Keeps the IDs, the roles and the
 * times.
 * @param ids Of the memberships.
 * @param projects See `listProjectsOfMembers`.
 */
export function eraseChangedPerson(
  db: Database,
  ids: readonly string[],
  projects: readonly { id: string }[],
): readonly ManyRows[] {
  const list = JSON.stringify(ids);
  const members = sql`(select value from json_each(${list}))`;
  const { before, after } = changelogEntries;
  const isEvent = sql`type = 'changelog.created'`;
  // Most are about others: those are read, and not written.
  const isAbout = (data: Column) =>
    sql`exists (select 1 from json_each(${list}) as item where instr(${data}, item.value))`;
  const inProjects = (condition: SQL, order: readonly SQL[]) =>
    projects.map(({ id }) => ({ where: sql`project_id = ${id} and ${condition}`, order }));
  return [
    {
      table: events,
      lists: inProjects(isEvent, [sql`created_at`, sql`id`]),
      write: (condition) =>
        db
          .update(events)
          .set({ data: withoutName(events.data, members) })
          .where(sql`${condition} and +${isEvent} and ${isAbout(events.data)}`),
    },
    {
      table: changelogEntries,
      lists: ids.map((id) => ({
        where: sql`${isMember} and record_id = ${id}`,
        order: [sql`rowid`],
      })),
      write: (condition) =>
        db
          .update(changelogEntries)
          .set({
            resourceName: null,
            before: sql`json_remove(${before}, ${PERSONAL_PATHS})`,
            after: sql`json_remove(${after}, ${PERSONAL_PATHS})`,
          })
          .where(sql`${condition} and +${isMember} and +record_id in ${members}`),
    },
  ];
}

/** The data of an event has its first entry at the top level, and every entry in `entries`. */
function withoutName(data: Column, members: SQL): SQL {
  const redacted = (entry: SQL) =>
    sql`iif(${entry} ->> '$.record.type' = 'project_member' and ${entry} ->> '$.record.id' in ${members},
      json_remove(${entry}, '$.record.name'), ${entry})`;
  const entries = sql`(select json_group_array(json(${redacted(sql`item.value`)}) order by item.key)
    from json_each(${data}, '$.entries') as item)`;
  return sql`json_replace(${redacted(sql`${data}`)}, '$.entries', ${entries})`;
}
