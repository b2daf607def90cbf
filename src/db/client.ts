import { DrizzleD1Database, SQLiteD1Session } from "drizzle-orm/d1";
import { INVALID_BOOKMARK } from "../lib/header-errors.ts";
import { Dialect } from "./dialect.ts";
import { type Charge, meter } from "./metered-session.ts";

/** `$client` is a D1 session. */
export type Database = DrizzleD1Database & { $client: D1Database };

/**
 * The database session of one request (D1 Sessions API). A session reads from the nearest replica
 * that has the writes up to its bookmark; the caller sends `bookmark()` with the next request.
 */
export interface DatabaseSession {
  readonly db: Database;
  bookmark(): string | null;
}

const dialect = new Dialect();

/** Like Drizzle's `drizzle`, with our dialect. */
export function openDatabase(client: Pick<D1Database, "prepare" | "batch">): Database {
  // Drizzle's type requires the whole binding, but it calls only `prepare` and `batch`.
  const $client = client as D1Database;
  const session = new SQLiteD1Session<Record<string, never>, Record<string, never>>(
    $client,
    dialect,
    undefined,
  );
  return Object.assign(new DrizzleD1Database("async", dialect, session, undefined), { $client });
}

const BOOKMARK = /^[0-9a-f]{1,16}(-[0-9a-f]{1,64}){1,4}$/;

interface SessionOptions {
  bookmark?: string | undefined;
  /** Charges whoever causes the statements. Absent: nobody. */
  charge?: Charge | undefined;
}

/** Reads from the nearest replica, or from one that has reached `bookmark`. */
export function openForReading(
  d1: D1Database,
  { bookmark, charge }: SessionOptions = {},
): DatabaseSession {
  if (bookmark !== undefined && !BOOKMARK.test(bookmark)) {
    throw INVALID_BOOKMARK;
  }
  return wrap(d1.withSession(bookmark ?? "first-unconstrained"), charge);
}

/** The first query goes to the primary, as every write does. */
export function openForWriting(d1: D1Database, charge?: Charge): DatabaseSession {
  return wrap(d1.withSession("first-primary"), charge);
}

const WRITE = /^\s*(?:with\b.*\b)?(?:insert|update|delete)\b/is;

/**
 * The same session, which calls `beforeWrite` with each statement that writes, before any statement of
 * its batch runs. `beforeWrite` may throw.
 */
export function interceptWrites(
  { $client: session }: Database,
  beforeWrite: (statement: string) => void,
): Database {
  const intercepted: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (statement) => {
      if (WRITE.test(statement)) beforeWrite(statement);
      return session.prepare(statement);
    },
    batch: (statements) => session.batch(statements),
  };
  return openDatabase(intercepted);
}

function wrap(session: D1DatabaseSession, charge: Charge = () => undefined): DatabaseSession {
  return {
    db: openDatabase(meter(session, charge)),
    bookmark: () => session.getBookmark(),
  };
}
