import { getTableName, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import type { OwnedTable } from "../../../db/ownership.ts";
import { rowBytes } from "../../../db/row-bytes.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { CountedHistory } from "./model.ts";
import { historyPositions, historyUsage } from "./table.ts";

/** The next rows after the position, and the position after them, in one transaction. */
export function countAdded(
  db: Database,
  table: SQLiteTable,
  { kind, fixed }: NonNullable<OwnedTable["history"]>,
) {
  const name = getTableName(table);
  const position = sql`coalesce((select position from history_positions where table_name = ${name}), 0)`;
  const added = sql`(select rowid as at, * from ${table} where rowid > ${position}
    order by rowid limit ${LIMITS.sweepHistory.value}) as added`;
  return {
    usage: insertFrom(
      db,
      historyUsage,
      {
        organizationId: sql`added.organization_id`,
        kind: kind as CountedHistory,
        records: sql`count(*)`,
        bytes: sql`sum(${sql.raw(rowBytes(table, "added", fixed))})`,
      },
      // The rows of a deleted organization go soon, with what counts them.
      sql`from ${added} where true group by added.organization_id
        having ${isLiveOrganization(sql`added.organization_id`)}`,
    ).onConflictDoUpdate({
      target: [historyUsage.organizationId, historyUsage.kind],
      set: {
        records: sql`records + excluded.records`,
        bytes: sql`bytes + excluded.bytes`,
      },
    }),
    position: insertFrom(
      db,
      historyPositions,
      { tableName: name, position: sql`max(added.at)` },
      sql`from ${added} where true having max(added.at) is not null`,
    ).onConflictDoUpdate({
      target: historyPositions.tableName,
      set: { position: sql`excluded.position` },
    }),
  };
}
