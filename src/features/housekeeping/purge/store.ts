import { and, asc, eq, getTableName, gt, lt, lte, ne, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../../db/client.ts";
import { idOf, type OwnedRows, referencedBy } from "../../../db/ownership.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { purges } from "./table.ts";

export type PurgeRow = typeof purges.$inferSelect;

/** Without organizations. */
export function listOldestResources(db: Database, limit: number) {
  const isResource = ne(purges.resourceType, "organization");
  return db.select().from(purges).where(isResource).orderBy(asc(purges.id)).limit(limit);
}

/** An ID, or a select of several IDs. */
type Owner = string | SQL;

/** Some of the rows, with their children. No statement deletes more than `limit` rows. */
export function deleteOwned(
  db: Database,
  { table, key, childKeys }: OwnedRows,
  owner: Owner,
  limit: number,
) {
  const some = sql`(select rowid from ${table} where ${isOwnedBy(key, owner)} limit ${limit})`;
  return deleteWithChildren(db, table, childKeys, sql`${table}.rowid in ${some}`, limit);
}

/** The IDs of some of the rows for which `condition` holds. */
export async function listOwned(
  db: Database,
  { table, key }: OwnedRows,
  { owner, condition, limit }: { owner: Owner; condition: SQL; limit: number },
): Promise<string[]> {
  const found = await db
    .select({ id: sql<string>`${idOf(table)}`.as("id") })
    .from(table)
    .where(and(isOwnedBy(key, owner), condition))
    .limit(limit);
  return found.map(({ id }) => id);
}

/** These rows, with their children. */
export function deleteRows(
  db: Database,
  { table, childKeys }: OwnedRows,
  ids: readonly string[],
  limit: number,
) {
  const isOneOf = sql`${idOf(table)} in (select value from json_each(${JSON.stringify(ids)}))`;
  return deleteWithChildren(db, table, childKeys, isOneOf, limit);
}

function isOwnedBy(key: SQLiteColumn, owner: Owner): SQL {
  return typeof owner === "string" ? eq(key, owner) : sql`${key} in (${owner})`;
}

/** Last, because all other rows of the resource refer to it. */
export function deleteTombstone(db: Database, table: SQLiteTable, purge: PurgeRow) {
  const isTombstone = sql`${table}.organization_id = ${TOMBSTONE_ORGANIZATION_ID}`;
  return {
    tombstone: db.delete(table).where(and(eq(idOf(table), purge.resourceId), isTombstone)),
    purge: db.delete(purges).where(eq(purges.id, purge.id)),
  };
}

/** The ID of the last of the next `count` rows; undefined if there is none. */
export async function findRangeEnd(
  db: Database,
  table: SQLiteTable,
  { after, before, count }: { after: string; before: string; count: number },
): Promise<string | undefined> {
  const found = await db.get<{ last: string | null }>(rangeEnd(table, { after, before, count }));
  return found.last ?? undefined;
}

export function rangeEnd(
  table: SQLiteTable,
  { after, before, count }: { after: string; before: string; count: number },
): SQL {
  const id = idOf(table);
  return sql`select max(id) as last from (select ${id} as id from ${table}
    where ${and(gt(id, after), lt(id, before))} order by ${id} limit ${count})`;
}

export interface ExpiredRows {
  table: SQLiteTable;
  childKeys: readonly SQLiteColumn[];
  /** The first ID is exclusive, the last inclusive. */
  after: string;
  until: string;
  isExpired: SQL | undefined;
}

/** With their children. No statement deletes more than `limit` rows, if the range has at most these. */
export function deleteExpired(
  db: Database,
  { table, childKeys, after, until, isExpired }: ExpiredRows,
  limit: number,
) {
  const id = idOf(table);
  const where = and(gt(id, after), lte(id, until), isExpired);
  return deleteWithChildren(db, table, childKeys, where, limit);
}

/** Rows that have more children than `limit` stay until these are deleted. */
function deleteWithChildren(
  db: Database,
  table: SQLiteTable,
  childKeys: readonly SQLiteColumn[],
  where: SQL | undefined,
  limit: number,
) {
  const children = childKeys.map((key) => {
    const child = key.table as SQLiteTable;
    const parents = sql`(select ${idOf(referencedBy(key))} from ${table} where ${where})`;
    const some = sql`(select rowid from ${child} where ${key} in ${parents} limit ${limit})`;
    return [getTableName(child), db.delete(child).where(sql`${child}.rowid in ${some}`)] as const;
  });
  const haveNoChildren = childKeys.map((key) => {
    const child = key.table as SQLiteTable;
    return sql`not exists (select 1 from ${child} where ${key} = ${idOf(table)})`;
  });
  return {
    children: Object.fromEntries(children),
    rows: db.delete(table).where(and(where, ...haveNoChildren)),
  };
}
