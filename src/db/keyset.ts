import { asc, type Column, desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
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
  return name === undefined ? undefined : isNamed(column, name);
}

/** Names are stored in NFC. An older one may have the form in which it was sent. */
export function isNamed(column: SQLWrapper, name: string): SQL {
  const normalized = name.normalize();
  return normalized === name
    ? sql`${column} = ${name}`
    : sql`${column} in (${name}, ${normalized})`;
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
 * Turns the rows of a keyset query into a page. Those of a select from `limitPageBytes` are the page, in
 * any order; otherwise one row beyond `page.limit` shows that there is a next page.
 */
export function toPage<Row>(
  page: PageRequest,
  found: readonly (Row & Partial<PagePosition>)[],
  positionOf: (row: Row) => Position,
): Page<Row> {
  const ordered = found.toSorted((a, b) => (a.pagePosition ?? 0) - (b.pagePosition ?? 0));
  const rows = ordered.slice(0, page.limit);
  const total = found[0]?.pageFound ?? found.length;
  const isStopped = total === -rows.length;
  const last = isStopped ? rows.pop() : total === rows.length ? undefined : rows.at(-1);
  return { rows, next: last && encodeCursor(page.direction, positionOf(last)) };
}

interface PagePosition {
  pagePosition: number;
  /** How many rows the keyset query has found. Negative: the last is where `matching` has stopped. */
  pageFound: number;
}

/** Add this to the columns of a select from `limitPageBytes`. */
export const PAGE_POSITION = {
  pagePosition: sql<number>`page.position`.as("page_position"),
  pageFound: sql<number>`page.found`.as("page_found"),
} satisfies Record<keyof PagePosition, SQL.Aliased>;

function first({ direction }: PageRequest, limit: SQL | number): SQL {
  const order = sql.raw(direction);
  return sql`order by created_at ${order}, id ${order} limit ${limit}`;
}

/** For `limitPageBytes`: one row more than a page of a keyset query of `id`, `created_at` and `size`. */
export function firstOf(page: PageRequest, items: SQLWrapper): SQL {
  return sql`(select * from ${items} ${first(page, page.limit + 1)})`;
}

/**
 * The same, of those whose `size` is not 0. After reading so many that a page would take too long, it stops at the
 * last of them, which gets the size 0: the next page continues there.
 * @param mayStop Whether any may have the size 0.
 */
export function matchingOf(page: PageRequest, items: SQLWrapper, mayStop = sql`true`): SQL {
  const most = sql.raw(String(LIMITS.searchedRows.value));
  // Both times, SQLite reads no more of the items than it needs.
  return sql`(with items as not materialized ${items}
    select * from (
      select * from (select * from items ${first(page, most)}) where size > 0
      union all select id, created_at, 0
        from (select * from items ${first(page, sql`1 offset ${most} - 1`)}) where ${mayStop})
    limit ${page.limit + 1})`;
}

const MAXIMUM_BYTES = sql.raw(String(LIMITS.pageBytes.value));

/** How many of `sizes` fit on a page, at least one. */
const FITTING = sql`(with recursive fitting (number, total) as (
    select 1, sizes ->> 0
    union all select number + 1, total + (sizes ->> number) from fitting
      where number < found and total + (sizes ->> number) <= ${MAXIMUM_BYTES})
  select max(number) from fitting)`;

/**
 * The derived table `page`, for a list whose items can be large: the IDs of those that fit, so that a
 * select that joins it reads nothing of the others. `items` is a keyset query of `id` and `size` (see
 * `sizeOf`). A window function, or an `ORDER BY` of the joined rows, would read each item twice more.
 */
export function limitPageBytes(page: PageRequest, items: SQLWrapper): SQL {
  // Without its limit, SQLite merges the subquery into the join, and computes `fitting` for each item.
  return sql`(select item.value as id, item.key as position, iif(list.least, list.found, -list.found) as found
    from (select ids, found, least, iif(total <= ${MAXIMUM_BYTES}, found, ${FITTING}) as fitting
      from (select json_group_array(id) as ids, json_group_array(size) as sizes,
        sum(size) as total, min(size) as least, count(*) as found from ${items}) limit 1) as list
    join json_each(list.ids) as item
    where item.key < min(list.fitting, ${sql.raw(String(page.limit))})) as page`;
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
