import { type Column, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { deliveries, events } from "../notifications/outbox/table.ts";
import { changelogEntries } from "./table.ts";

const PERSONAL_PATHS = sql.raw("'$.name', '$.display_name', '$.avatar', '$.profile'");

/**
 * Removes a person from the entries about the memberships with these IDs, and from the events of these
 * entries. Keeps the IDs, the roles and the times.
 */
export function eraseChangedPerson(db: Database, ids: readonly string[], condition: SQL) {
  const members = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  // In full, because SQLite uses a partial index only for its own condition.
  const isAboutPerson = sql`record_type = 'project_member' and record_id in ${members}`;
  const { before, after } = changelogEntries;
  const redact = (table: typeof events | typeof deliveries, hasData = sql``) =>
    db
      .update(table)
      .set({ data: withoutName(members, table.data) })
      .where(
        sql`${table.projectId} in (select project_id from changelog_entries where ${isAboutPerson})
          and ${table.type} = 'changelog.created' ${hasData} and ${condition}`,
      );
  return {
    // Before the entries, which determine the projects of the events.
    events: redact(events),
    deliveries: redact(deliveries, sql`and ${deliveries.data} <> ''`),
    entries: db
      .update(changelogEntries)
      .set({
        recordName: null,
        before: sql`json_remove(${before}, ${PERSONAL_PATHS})`,
        after: sql`json_remove(${after}, ${PERSONAL_PATHS})`,
      })
      .where(sql`${isAboutPerson} and ${condition}`),
  };
}

/** The data of an event has its first entry at the top level, and every entry in `entries`. */
function withoutName(members: SQL, data: Column): SQL {
  const redacted = (entry: SQL) =>
    sql`iif(${entry} ->> '$.record.type' = 'project_member' and ${entry} ->> '$.record.id' in ${members},
      json_remove(${entry}, '$.record.name'), ${entry})`;
  const entries = sql`(select json_group_array(json(${redacted(sql`item.value`)}) order by item.key)
    from json_each(${data}, '$.entries') as item)`;
  return sql`json_replace(${redacted(sql`${data}`)}, '$.entries', ${entries})`;
}
