import { type Column, eq, type SQL } from "drizzle-orm";

/** D1 refuses a compound select with more branches. */
export const MAXIMUM_BRANCHES = 5;

/**
 * For a `UNION ALL` of one branch for each value, or of one branch for all rows. SQLite merges the
 * branches as it reads them, so each uses an index and reads only the rows of the page.
 */
export function unionBranches<Value extends string>(
  column: Column,
  values: readonly Value[],
): readonly [SQL | undefined, ...SQL[]] {
  const [first, ...rest] = values.map((value) => eq(column, value));
  return [first, ...rest];
}
