import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { BadInput } from "../lib/errors.ts";

/** Drizzle over a D1 session, which it has as `$client`. */
export type Database = DrizzleD1Database & { $client: D1Database };

/**
 * One request's view of the database. D1's Sessions API reads from the nearest replica that has
 * seen what the session saw; `bookmark` is that point, for the caller to send with the next request.
 */
export interface DatabaseSession {
  readonly db: Database;
  bookmark(): string | null;
}

const BOOKMARK = /^[0-9a-f]{1,16}(-[0-9a-f]{1,64}){1,4}$/;

/** A session for reading: the nearest replica, or one that has caught up with `bookmark`. */
export function openForReading(d1: D1Database, bookmark?: string): DatabaseSession {
  if (bookmark !== undefined && !BOOKMARK.test(bookmark)) {
    throw new BadInput([
      { path: "X-D1-Bookmark", message: "Send the header as an earlier answer gave it." },
    ]);
  }
  return wrap(d1.withSession(bookmark ?? "first-unconstrained"));
}

/** A session whose first query, and so every write, meets the primary. */
export function openForWriting(d1: D1Database): DatabaseSession {
  return wrap(d1.withSession("first-primary"));
}

function wrap(session: D1DatabaseSession): DatabaseSession {
  return {
    // Drizzle asks for the whole binding, and calls only what a session has too: prepare and batch.
    db: drizzle(session as unknown as D1Database),
    bookmark: () => session.getBookmark(),
  };
}
