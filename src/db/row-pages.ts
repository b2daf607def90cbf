import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { batch, type Statement, type Statements } from "./batch.ts";
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

/** How many rows one batch reads, and of how many lists. */
const PAGE_ROWS = 2_000;
const PAGE_LISTS = 10;

/**
 * Writes the rows that there are, page by page.
 * @returns For the last batch: the statements that write those that were added since the start, if `condition` holds.
 */
export async function writeInPages(
  db: Database,
  tables: readonly ManyRows[],
): Promise<(condition: SQL) => Statements> {
  const ends = await findEnds(db, tables);
  let left = tables.flatMap((rows) =>
    rows.lists.map((list) => ({ rows, list, after: undefined as string | undefined })),
  );
  while (left.length > 0) {
    const now = left.slice(0, PAGE_LISTS);
    const size = Math.floor(PAGE_ROWS / now.length);
    const pages = now.map(({ rows, list, after }, at) => {
      const page = { table: rows.table, where: isAfter(list, after), order: list.order, size };
      // The last row is read first, because the write may delete it.
      const statements = { last: findLast(db, page), write: rows.write(isInPage(page)) };
      return [`of ${at}`, statements] as const;
    });
    const results = Object.values(await batch(db, Object.fromEntries(pages)));
    const unfinished = now.flatMap((page, at) => {
      const after = results[at]?.last[0]?.position;
      return after === undefined ? [] : [{ ...page, after }];
    });
    left = [...unfinished, ...left.slice(PAGE_LISTS)];
  }
  return (condition) =>
    Object.fromEntries(
      tables.map((rows, at) => {
        const isNew = sql`${rows.table}.rowid > ${ends[at] ?? 0}`;
        return [`of ${at}`, rows.write(sql`${isNew} and ${condition}`)];
      }),
    );
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
