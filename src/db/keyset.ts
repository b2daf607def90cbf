import { asc, type Column, desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Direction, encodeCursor, type Position } from "../lib/cursor.ts";
import { LIMITS } from "../lib/limits.ts";

/** What a caller asks of a list. */
export interface PageRequest {
  limit: number;
  direction: Direction;
  after: Position | undefined;
}

export interface Page<Row> {
  rows: Row[];
  /** The cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/**
 * The parts of a keyset query over `(createdAt, id)`. It asks for one row more than the page holds,
 * which tells whether there is a next page without counting.
 */
export function keyset(page: PageRequest, createdAt: Column, id: Column) {
  const order = page.direction === "asc" ? asc : desc;
  return {
    where: page.after && beyond(page.direction, page.after, createdAt, id),
    orderBy: [order(createdAt), order(id)] as const,
    limit: page.limit + 1,
  };
}

function beyond(direction: Direction, after: Position, createdAt: Column, id: Column): SQL {
  const operator = sql.raw(direction === "asc" ? ">" : "<");
  return sql`(${createdAt}, ${id}) ${operator} (${after.createdAt}, ${after.id})`;
}

/** A row of a page that `limitPageBytes` has cut: the size of the page up to and including it. */
export interface Cut {
  pageBytes: number;
}

/** What a select from `limitPageBytes` selects beside the columns of its record. */
export const CUMULATIVE_BYTES = { pageBytes: sql<number>`page.total`.as("page_bytes") };

/**
 * The table `page`, for a list whose records can be large. `records` is a keyset query of `id`,
 * `created_at` and `size`, the bytes of a record as sent. Records beyond the first that does not
 * fit are left out, so that a select that joins it never reads them.
 */
export function limitPageBytes(page: PageRequest, records: SQLWrapper): SQL {
  const order = sql.raw(page.direction);
  // A record that is larger than a page counts as one page, so that the next is still found.
  const size = sql.raw(`min(size, ${LIMITS.pageBytes.value})`);
  return sql`(select record.* from (select *, sum(${size}) over
      (order by created_at ${order}, id ${order}) as total from ${records}) as record
    where record.total - ${size} <= ${LIMITS.pageBytes.value}) as page`;
}

/** The order of a select from `limitPageBytes`. */
export function pageOrder(page: PageRequest): SQL {
  const order = sql.raw(page.direction);
  return sql`page.created_at ${order}, page.id ${order}`;
}

/**
 * The bytes of a record as sent: JSON columns as they are stored, text columns in quotes with
 * escapes, and the rest of the record, its field names included.
 */
export function sizeOf(columns: {
  json?: readonly SQLWrapper[];
  text?: readonly SQLWrapper[];
  rest: number;
}): SQL.Aliased<number> {
  const { json = [], text = [], rest } = columns;
  const sizes = [
    ...json.map((column) => sql`coalesce(octet_length(${column}), 0)`),
    ...text.map((column) => sql`octet_length(json_quote(${column}))`),
    sql`${sql.raw(String(rest))}`,
  ];
  return sql<number>`${sql.join(sizes, sql` + `)}`.as("size");
}

/** Cuts what a keyset query found to the page that was asked for, of one record at the least. */
export function toPage<Row>(
  page: PageRequest,
  found: (Row & Partial<Cut>)[],
  positionOf: (row: Row) => Position,
): Page<Row> {
  const rows = found.filter(
    ({ pageBytes = 0 }, at) => at === 0 || (at < page.limit && pageBytes <= LIMITS.pageBytes.value),
  );
  const last = found.length > rows.length ? rows.at(-1) : undefined;
  return { rows, next: last && encodeCursor(page.direction, positionOf(last)) };
}
