import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { batch, type RowsStatement, type Statement, type Statements } from "./batch.ts";
import type { Database } from "./client.ts";

/** Rows of a table that may be too many for one batch, because all others wait for each. */
export interface ManyRows {
  table: SQLiteTable;
  /** Together all of them, and perhaps others. */
  lists: readonly RowList[];
  /** Changes or deletes those of them that `condition` selects. */
  write(condition: SQL): Statement;
}

/** Rows in the order of an index, which has the columns that `where` compares, and then those of `order`. */
interface RowList {
  where: SQL;
  /** Unique together. */
  order: readonly SQL[];
}

/** Of each batch with a page: its first and its last statement. */
interface Guard {
  /** Decides whether the batch writes. */
  first: Statement;
  /** Whether it does. */
  condition: SQL;
  /** Returns no row if it does not. */
  last: RowsStatement<unknown>;
}

/** How many rows one batch reads. */
const BATCH_ROWS = 2_000;
/** Of how many lists. */
const BATCH_LISTS = 10;

/** The statements that write what is left, if `condition` holds. */
type LastWrites = (condition: SQL) => Statements;

/**
 * Writes the rows that there are page by page, unless one batch can write all of them.
 * @returns What the caller's last batch has to contain. Undefined: the guard has ended it.
 */
export async function writeInPages(
  db: Database,
  tables: readonly ManyRows[],
  guard: Guard,
): Promise<LastWrites | undefined> {
  const lists = tables.flatMap((rows) => rows.lists.map((list) => ({ rows, list })));
  const ends = await findEnds(db, tables);
  const hasPages = await areMany(db, lists);
  if (hasPages && !(await writePages(db, lists, guard))) return undefined;
  const listed = hasPages ? [] : lists.map(({ rows, list }) => [rows, isOf(rows, list)] as const);
  // Also those that are in none of the lists, because they belong to something that was not there.
  const added = tables.map((rows, at) => {
    return [rows, sql`${rows.table}.rowid > ${ends[at] ?? 0}`] as const;
  });
  return (condition) =>
    Object.fromEntries(
      [...listed, ...added].map(([rows, isLeft], at) => {
        return [`of ${at}`, rows.write(sql`${isLeft} and ${condition}`)];
      }),
    );
}

function isOf({ table }: ManyRows, { where }: RowList): SQL {
  return sql`${table}.rowid in (select rowid from ${table} where ${where})`;
}

interface ListOf {
  rows: ManyRows;
  list: RowList;
}

async function areMany(db: Database, lists: readonly ListOf[]): Promise<boolean> {
  if (lists.length > BATCH_LISTS) return true;
  const size = Math.floor(BATCH_ROWS / lists.length);
  const reads = lists.map(({ rows, list }, at) => {
    return [`of ${at}`, findLast(db, { table: rows.table, ...list, size })] as const;
  });
  const results = await batch(db, Object.fromEntries(reads));
  return Object.values(results).some((found) => found.length > 0);
}

/** Returns false if the guard has ended it. */
async function writePages(
  db: Database,
  lists: readonly ListOf[],
  { first, condition, last }: Guard,
): Promise<boolean> {
  let left = lists.map((each) => ({ ...each, after: undefined as string | undefined }));
  while (left.length > 0) {
    const now = left.slice(0, BATCH_LISTS);
    const size = Math.floor(BATCH_ROWS / now.length);
    const pages = now.map(({ rows, list, after }, at) => {
      const page = { table: rows.table, where: isAfter(list, after), order: list.order, size };
      const write = rows.write(sql`${isInPage(page)} and ${condition}`);
      // The last row is read first, because the write may delete it.
      return [`of ${at}`, { last: findLast(db, page), write }] as const;
    });
    const done = await batch(db, { first, pages: Object.fromEntries(pages), last });
    if (done.last.length === 0) return false;
    const results = Object.values(done.pages);
    const unfinished = now.flatMap((page, at) => {
      const after = results[at]?.last[0]?.position;
      return after === undefined ? [] : [{ ...page, after }];
    });
    left = [...unfinished, ...left.slice(BATCH_LISTS)];
  }
  return true;
}

async function findEnds(db: Database, tables: readonly ManyRows[]): Promise<number[]> {
  const ends = tables.map(({ table }) => sql`(select max(rowid) from ${table})`);
  const found = await db.get<{ ends: string }>(
    sql`select json_array(${sql.join(ends, sql`, `)}) as ends`,
  );
  return JSON.parse(found.ends);
}

function isAfter({ where, order }: RowList, after: string | undefined): SQL {
  if (after === undefined) return where;
  const values = order.map((_, at) => sql`${after} ->> ${sql.raw(`${at}`)}`);
  return sql`${where} and (${sql.join([...order], sql`, `)}) > (${sql.join(values, sql`, `)})`;
}

interface Page extends RowList {
  table: SQLiteTable;
  size: number;
}

/** The values of `order` of the last row, if there may be more. */
function findLast(db: Database, { table, where, order, size }: Page) {
  return db
    .select({
      position: sql<string>`json_array(${sql.join([...order], sql`, `)})`.as("position"),
    })
    .from(table)
    .where(where)
    .orderBy(...order)
    .limit(1)
    .offset(size - 1);
}

function isInPage({ table, where, order, size }: Page): SQL {
  return sql`${table}.rowid in (select rowid from ${table} where ${where}
    order by ${sql.join([...order], sql`, `)} limit ${size})`;
}
