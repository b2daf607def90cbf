import { type Column, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";

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

/** Of up to 25 selects: a compound within a compound counts as one branch, and SQLite merges it like the others. */
export function unionOf(branches: readonly SQLWrapper[]): SQL {
  const count = Math.ceil(branches.length / MAXIMUM_BRANCHES);
  const groups = Array.from({ length: count }, (_, at) =>
    joinOf(branches.slice(at * MAXIMUM_BRANCHES, (at + 1) * MAXIMUM_BRANCHES)),
  );
  const [only = sql``, ...others] = groups;
  return others.length === 0 ? only : joinOf(groups);
}

function joinOf(branches: readonly SQLWrapper[]): SQL {
  const selects = branches.map((branch) => sql`select * from ${branch}`);
  return sql`(${sql.join(selects, sql` union all `)})`;
}
