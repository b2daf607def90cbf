import { type Column, eq, inArray, type SQL } from "drizzle-orm";

/** D1 refuses a compound of more selects than that. */
const MAXIMUM_ARMS = 5;

/**
 * The conditions of the arms of an ordered list that is filtered by values of one column: one arm
 * for each value, which SQLite merges as it reads, so that every arm walks an index and reads no
 * more than the page needs. So many values that there would be too many arms are nearly all that
 * there are, and are picked out of the whole list.
 */
export function armsOf<Value extends string>(
  column: Column,
  wanted: readonly Value[],
  all: readonly Value[],
): readonly [SQL | undefined, ...SQL[]] {
  if (wanted.length === 0 || wanted.length === all.length) return [undefined];
  const [first, ...rest] = wanted.map((value) => eq(column, value));
  if (wanted.length > MAXIMUM_ARMS) return [inArray(column, [...wanted])];
  return [first, ...rest];
}
