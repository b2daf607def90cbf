import { asc, type Column, desc, type SQL, sql } from "drizzle-orm";
import { type Direction, encodeCursor, type Position } from "../lib/cursor.ts";

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

/** Cuts what a keyset query found to the page that was asked for. */
export function toPage<Row>(
  page: PageRequest,
  found: Row[],
  positionOf: (row: Row) => Position,
): Page<Row> {
  const rows = found.slice(0, page.limit);
  const last = found.length > page.limit ? rows.at(-1) : undefined;
  return { rows, next: last && encodeCursor(page.direction, positionOf(last)) };
}
