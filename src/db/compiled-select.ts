import { Column, fillPlaceholders, is, type Placeholder, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Database } from "./client.ts";

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
  const names = Object.keys(fields) as (keyof Row)[];
  let compiled: { sql: string; params: unknown[] } | undefined;
  const decode = (row: unknown[]) =>
    Object.fromEntries(
      names.map((name, index) => [name, decodeField(fields[name], row[index])]),
    ) as Row;
  return async (db, values) => {
    compiled ??= build(drizzle({} as D1Database)).toSQL();
    const statement = db.$client.prepare(compiled.sql);
    const rows = await statement.bind(...fillPlaceholders(compiled.params, values)).raw();
    return rows.map(decode);
  };
}

function decodeField(field: Column | SQL.Aliased, value: unknown): unknown {
  return is(field, Column) && value !== null ? field.mapFromDriverValue(value) : value;
}
