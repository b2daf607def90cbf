import { getTableColumns, isSQLWrapper, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./client.ts";

/** A value for every column of a table, by the name of the column in the table's definition. */
export type ColumnValues<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferSelect"]]: Table["$inferSelect"][Name] | SQLWrapper;
};

/**
 * `INSERT … SELECT` with every column by name. `from` is what follows the select list: `from … where
 * …`, or a `where …` alone for one row under a condition. A column that is left out does not compile.
 */
export function insertFrom<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  values: ColumnValues<Table>,
  from: SQL,
) {
  const list = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = values[name as keyof ColumnValues<Table>];
    return isSQLWrapper(value) ? sql`${value}` : sql`${sql.param(value, column)}`;
  });
  return db.insert(table).select(sql`select ${sql.join(list, sql`, `)} ${from}`);
}
