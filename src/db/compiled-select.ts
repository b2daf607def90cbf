import { Column, fillPlaceholders, is, type Placeholder, type SQL } from "drizzle-orm";
import { type Database, openDatabase } from "./client.ts";

export type BindValue = string | Placeholder;

type Fields<Row> = { [Name in keyof Row]: Column | SQL.Aliased };

/**
 * A select that Drizzle builds once, at the first call; later calls only bind new values. Building
 * takes most of the CPU time of a small query. `fields` are the selected fields, in order.
 */
export function compileSelect<Row>(
  fields: Fields<Row>,
  build: (db: Database) => PromiseLike<Row[]> & { toSQL(): { sql: string; params: unknown[] } },
): (db: Database, values: Record<string, string>) => Promise<Row[]> {
  const decoders = Object.entries<Column | SQL.Aliased>(fields).map(
    ([name, field]) => [name, is(field, Column) ? field : undefined] as const,
  );
  let compiled: { sql: string; params: unknown[] } | undefined;
  const decode = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (const [index, [name, column]] of decoders.entries()) {
      const value = values[index];
      row[name] = column && value !== null ? column.mapFromDriverValue(value) : value;
    }
    return row as Row;
  };
  return async (db, values) => {
    compiled ??= build(openDatabase({} as D1Database)).toSQL();
    const statement = db.$client.prepare(compiled.sql);
    const rows = await statement.bind(...fillPlaceholders(compiled.params, values)).raw();
    return rows.map(decode);
  };
}
