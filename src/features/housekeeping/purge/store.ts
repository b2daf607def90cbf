import { and, asc, eq, getTableName, gt, lt, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../../../db/client.ts";
import { listOf } from "../../../db/list-of.ts";
import { idOf, type OwnedRows, referencedBy } from "../../../db/ownership.ts";
import { listSomeOrganizations } from "../../../db/some-organizations.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { IS_RESOURCE, purges } from "./table.ts";

export type PurgeRow = typeof purges.$inferSelect;

/** Those with deleted resources. */
export function listOrganizations(db: Database, limit: number): Promise<string[]> {
  return listSomeOrganizations(db, purges, IS_RESOURCE, limit);
}

/** Deleted resources of an organization, oldest first. */
export function listResources(
  db: Database,
  { organizationId, after, limit }: { organizationId: string; after: string; limit: number },
) {
  return db
    .select()
    .from(purges)
    .where(and(eq(purges.organizationId, organizationId), gt(purges.id, after), IS_RESOURCE))
    .orderBy(asc(purges.id))
    .limit(limit);
}

/** Selects their IDs. */
export type Owners = SQL;

export function selectResources(of: readonly PurgeRow[]): Owners {
  const ids = of.map(({ resourceId }) => resourceId);
  return sql`select value from json_each(${JSON.stringify(ids)})`;
}

/** Those of which the owners have a row. */
export function findWithRows(
  db: Database,
  owned: readonly OwnedRows[],
  owners: Owners,
): Promise<OwnedRows[]> {
  return filterBy(db, owned, ({ table, key }) => {
    return sql`exists (select 1 from ${table} where ${key} in (${owners}))`;
  });
}

/** Those for whose table the condition holds, in one statement. */
export async function filterBy<Item extends { table: SQLiteTable }>(
  db: Database,
  items: readonly Item[],
  condition: (item: Item) => SQL,
): Promise<Item[]> {
  if (items.length === 0) return [];
  const columns = items.map((item) => {
    return sql`${condition(item)} as ${sql.identifier(getTableName(item.table))}`;
  });
  const found = await db.get<Record<string, number>>(sql`select ${sql.join(columns, sql`, `)}`);
  return items.filter(({ table }) => found[getTableName(table)] === 1);
}

/** Some of the rows, with their children. No statement deletes more than `limit` rows. */
export function deleteOwned(
  db: Database,
  { table, key, childKeys }: OwnedRows,
  owners: Owners,
  limit: number,
) {
  const some = sql`(select rowid from ${table} where ${key} in (${owners}) limit ${limit})`;
  return deleteWithChildren(db, table, childKeys, sql`${table}.rowid in ${some}`, limit);
}

/** The IDs of some of the rows, and whether `hasLog` holds for them. */
export async function listOwned(
  db: Database,
  { table, key }: OwnedRows,
  { owners, hasLog, limit }: { owners: Owners; hasLog: SQL; limit: number },
): Promise<{ id: string; hasLog: boolean }[]> {
  const found = await db
    .select({ id: sql<string>`${idOf(table)}`.as("id"), hasLog: sql<number>`${hasLog}`.as("log") })
    .from(table)
    .where(sql`${key} in (${owners})`)
    .limit(limit);
  return found.map((row) => ({ id: row.id, hasLog: row.hasLog === 1 }));
}

export interface DeletedRows {
  table: SQLiteTable;
  childKeys: readonly SQLiteColumn[];
  /** The rows stay unless it holds. */
  condition?: SQL | undefined;
}

/** These rows, with their children. */
export function deleteRows(
  db: Database,
  { table, childKeys, condition }: DeletedRows,
  ids: readonly string[],
  limit: number,
) {
  const where = and(sql`${idOf(table)} in ${listOf(ids)}`, condition);
  return deleteWithChildren(db, table, childKeys, where, limit);
}

/**
 * Last, because all other rows of the resources refer to them. Of one type; those that still own rows stay.
 * The mark stays with its tombstone.
 */
export function deleteTombstones(
  db: Database,
  root: { table: SQLiteTable; owned: readonly OwnedRows[] },
  of: readonly PurgeRow[],
) {
  const { table } = root;
  const id = idOf(table);
  const isTombstone = sql`${table}.organization_id = ${TOMBSTONE_ORGANIZATION_ID}`;
  const isOneOf = sql`${id} in ${listOf(of.map(({ resourceId }) => resourceId))}`;
  return {
    tombstones: db.delete(table).where(and(isOneOf, isTombstone, ownsNothing(root))),
    purges: db.delete(purges).where(
      sql`${purges.id} in ${listOf(of.map((purge) => purge.id))} and not exists
        (select 1 from ${table} where ${id} = ${purges.resourceId} and ${isTombstone})`,
    ),
  };
}

export function ownsNothing(root: {
  table: SQLiteTable;
  owned: readonly OwnedRows[];
}): SQL | undefined {
  const conditions = root.owned.map((rows) => {
    return sql`not exists (select 1 from ${rows.table} where ${rows.key} = ${idOf(root.table)})`;
  });
  return and(...conditions);
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
