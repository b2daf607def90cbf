import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { endedSessions, sessions } from "./session-table.ts";

/** Ends the sessions that `condition` selects by the columns of `sessions`, and keeps their tombstones. */
export function endSessions(db: Database, condition: SQL, now: number) {
  return {
    tombstones: insertFrom(
      db,
      endedSessions,
      { ...getTableColumns(sessions), endedAt: now },
      sql`from ${sessions} where ${condition}`,
    ),
    ended: db.delete(sessions).where(condition).returning({ id: sessions.id }),
  } satisfies Statements;
}
