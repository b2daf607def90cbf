import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** By the names of columns in the database. */
export type FixedBytes = Readonly<Record<string, number>>;

/**
 * The UTF-8 bytes of all columns of a row, as SQL.
 * @param row The name of the table or its alias in the statement.
 * @param fixed What columns count whose values change often.
 */
export function rowBytes(table: SQLiteTable, row: string, fixed: FixedBytes = {}): string {
  const { columns } = getTableConfig(table);
  const variable = columns.filter(({ name }) => fixed[name] === undefined);
  const bytes = variable.map(({ name, notNull }) => {
    const length = `octet_length(${row}.${name})`;
    return notNull ? length : `coalesce(${length}, 0)`;
  });
  const rest = Object.values(fixed).reduce((sum, each) => sum + each, 0);
  return [...bytes, ...(rest > 0 ? [rest] : [])].join(" + ");
}
