import { asc, type Column, desc, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type Direction, encodeCursor, type Position } from "../lib/cursor.ts";
import { LIMITS } from "../lib/limits.ts";

export interface PageRequest {
  limit: number;
  direction: Direction;
  /** The position of the last row of the previous page; undefined for the first page. */
  after: Position | undefined;
}

export interface NamedPageRequest extends PageRequest {
  /** Undefined: items of every name. */
  name: string | undefined;
}

export interface Page<Row> {
  rows: Row[];
  /** Undefined on the last page. */
  next: string | undefined;
}

/**
 * The clauses of a keyset query over `(createdAt, id)`. The query reads one row more than the page
 * holds: the extra row shows that there is a next page, without a count.
 */
export function keyset(page: PageRequest, createdAt: SQLWrapper, id: SQLWrapper) {
  const order = page.direction === "asc" ? asc : desc;
  return {
    where: page.after && isAfter(page.after, page.direction, createdAt, id),
    orderBy: [order(createdAt), order(id)] as const,
    limit: page.limit + 1,
  };
}

/** Undefined, which is no condition, for a page of every name. */
export function hasName({ name }: NamedPageRequest, column: Column): SQL | undefined {
  return name === undefined ? undefined : eq(column, name);
}

function isAfter(
  position: Position,
  direction: Direction,
  createdAt: SQLWrapper,
  id: SQLWrapper,
): SQL {
  const operator = sql.raw(direction === "asc" ? ">" : "<");
  return sql`(${createdAt}, ${id}) ${operator} (${position.createdAt}, ${position.id})`;
}

/**
 * Turns the rows of a keyset query into a page: drops the rows beyond `page.limit` and, if the
 * query selects `CUMULATIVE_BYTES`, beyond the byte limit. A page has at least one row of any size.
 */
export function toPage<Row>(
  page: PageRequest,
  found: (Row & Partial<WithCumulativeBytes>)[],
  positionOf: (row: Row) => Position,
): Page<Row> {
  const rows = found.filter(({ cumulativeBytes = 0 }, index) => {
    return index === 0 || (index < page.limit && cumulativeBytes <= LIMITS.pageBytes.value);
  });
  const last = found.length > rows.length ? rows.at(-1) : undefined;
  return { rows, next: last && encodeCursor(page.direction, positionOf(last)) };
}

interface WithCumulativeBytes {
  /** The bytes of the page up to and including this row. */
  cumulativeBytes: number;
}

/** Add this to the columns of a select from `limitPageBytes`. */
export const CUMULATIVE_BYTES = {
  cumulativeBytes: sql<number>`page.total`.as("cumulative_bytes"),
} satisfies Record<keyof WithCumulativeBytes, SQL.Aliased>;

/**
 * The derived table `page`, for a list whose items can be large. `items` is a keyset query of
 * `id`, `created_at` and `size` (see `sizeOf`). `page` has the items that fit and the first that
 * does not, so that a select that joins it never reads the rest.
 */
export function limitPageBytes(page: PageRequest, items: SQLWrapper): SQL {
  const order = sql.raw(page.direction);
  // Counts an item that is larger than a page as one page, so that the item after it is found.
  const size = sql.raw(`min(size, ${LIMITS.pageBytes.value})`);
  return sql`(select record.* from (select *, sum(${size}) over
      (order by created_at ${order}, id ${order}) as total from ${items}) as record
    where record.total - ${size} <= ${LIMITS.pageBytes.value}) as page`;
}

/** The `ORDER BY` of a select from `limitPageBytes`. */
export function pageOrder(page: PageRequest): SQL {
  const order = sql.raw(page.direction);
  return sql`page.created_at ${order}, page.id ${order}`;
}

/**
 * The bytes of an item as sent, as the column `size`: JSON columns as stored, text columns quoted
 * and escaped, and `rest` bytes for the other fields and all field names.
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
