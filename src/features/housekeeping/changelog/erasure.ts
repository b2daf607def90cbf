import { type Column, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { deliveries, events } from "../outbox/table.ts";
import { changelogEntries } from "./table.ts";

const PERSONAL_PATHS = sql.raw("'$.name', '$.display_name', '$.avatar', '$.profile'");

/**
 * Removes a person from the entries about the memberships with these IDs, and from the events of these
 * entries. Keeps the IDs, the roles and the times.
 */
export function eraseChangedPerson(db: Database, ids: readonly string[], condition: SQL) {
  const list = JSON.stringify(ids);
  const members = sql`(select value from json_each(${list}))`;
  // A project may have hundreds of thousands of events: those about others are read, and not written.
  const isAbout = (data: Column) =>
    sql`exists (select 1 from json_each(${list}) as item where instr(${data}, item.value))`;
  // In full, because SQLite uses a partial index only for its own condition.
  const isAboutPerson = sql`record_type = 'project_member' and record_id in ${members}`;
  const { before, after } = changelogEntries;
  const projectIds = sql`(select project_id from changelog_entries where ${isAboutPerson})`;
  return {
    // Before the entries, which determine the projects of the events.
    events: db
      .update(events)
      .set({ data: withoutName(events.data, members) })
      .where(
        sql`${events.projectId} in ${projectIds} and ${events.type} = 'changelog.created'
          and ${isAbout(events.data)} and ${condition}`,
      ),
    // Those of earlier releases have their own data.
    deliveries: db
      .update(deliveries)
      .set({ data: withoutName(deliveries.data, members) })
      .where(
        sql`${deliveries.projectId} in ${projectIds} and ${deliveries.type} = 'changelog.created'
          and ${isAbout(deliveries.data)} and ${condition}`,
      ),
    entries: db
      .update(changelogEntries)
      .set({
        resourceName: null,
        before: sql`json_remove(${before}, ${PERSONAL_PATHS})`,
        after: sql`json_remove(${after}, ${PERSONAL_PATHS})`,
      })
      .where(sql`${isAboutPerson} and ${condition}`),
  };
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
