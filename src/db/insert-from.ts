import { getTableColumns, isSQLWrapper, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./client.ts";

export type ColumnValues<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferSelect"]]: Table["$inferSelect"][Name] | SQLWrapper;
};

/**
 * `INSERT … SELECT` that names every column; TypeScript rejects a missing column. `from` is the SQL
 * after the select list: `from … where …`, or only `where …` to insert one row under a condition.
 */
export function insertFrom<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  values: ColumnValues<Table>,
  from: SQL,
) {
  const expressions = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = values[name as keyof ColumnValues<Table>];
    return isSQLWrapper(value) ? sql`${value}` : sql`${sql.param(value, column)}`;
  });
  return db.insert(table).select(sql`select ${sql.join(expressions, sql`, `)} ${from}`);
}
