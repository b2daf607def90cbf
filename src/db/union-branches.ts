import { type Column, eq, type SQL } from "drizzle-orm";

/**
 * The conditions of the branches of a `UNION ALL` for an ordered list filtered by one column: one
 * branch for each value, or one branch of all rows without values. SQLite merges the branches as it
 * reads them, so each branch uses an index and reads only the rows of the page.
 */
export function unionBranches<Value extends string>(
  column: Column,
  values: readonly Value[],
): readonly [SQL | undefined, ...SQL[]] {
  const [first, ...rest] = values.map((value) => eq(column, value));
  return [first, ...rest];
}
