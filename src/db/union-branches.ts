import { type Column, eq, type SQL } from "drizzle-orm";

/**
 * The conditions of the arms of an ordered list that is filtered by values of one column: one arm
 * for each value, which SQLite merges as it reads, so that every arm walks an index and reads no
 * more than the page needs. Without values, one arm of all rows.
 */
export function unionBranches<Value extends string>(
  column: Column,
  values: readonly Value[],
): readonly [SQL | undefined, ...SQL[]] {
  const [first, ...rest] = values.map((value) => eq(column, value));
  return [first, ...rest];
}
