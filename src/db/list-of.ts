import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** For `in`. JSON carries the list: a statement accepts at most 100 parameters. */
export function listOf(texts: readonly string[]): SQL {
  return sql`(select value from json_each(${JSON.stringify(texts)}))`;
}

/** Undefined, which is no condition, for null. */
export function isOneOf(id: SQLWrapper, ids: readonly string[] | null): SQL | undefined {
  return ids === null ? undefined : sql`${id} in ${listOf(ids)}`;
}
