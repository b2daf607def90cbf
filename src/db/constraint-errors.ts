import { DrizzleQueryError } from "drizzle-orm/errors";
import { Conflict } from "../lib/errors.ts";

/**
 * D1's own message about a failed statement. The message of the error that Drizzle wraps around it
 * contains the bound parameters, which can be secrets: never return or log that message.
 */
function databaseMessage(error: unknown): string | undefined {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  return cause instanceof Error && /D1_|SQLITE_/.test(cause.message) ? cause.message : undefined;
}

/** Whether a unique index over `columns` rejected the write. A column is `table.column`. */
function isUniqueViolation(error: unknown, columns: readonly string[]): boolean {
  const message = databaseMessage(error);
  return message?.includes(`UNIQUE constraint failed: ${columns.join(", ")}`) === true;
}

/**
 * Whether a foreign key rejected the write: a row refers to a record that does not exist, or a
 * record to delete still has rows that refer to it.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("FOREIGN KEY constraint failed") === true;
}

/** Whether a batch was rolled back because it would exceed a limit (table `limit_checks`). */
export function isLimitViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("CHECK constraint failed: limit_exceeded") === true;
}

/** Whether the statement took too long, or waited too long in the queue of the database. */
export function isTimeout(error: unknown): boolean {
  return /time(d )?[ -]?out|exceeded its CPU time|overloaded|queued for too long/i.test(
    databaseMessage(error) ?? "",
  );
}

/** Awaits a write. Throws `toError()` if a unique index over `columns` rejected it. */
export async function mapUniqueViolation<Result>(
  write: PromiseLike<Result>,
  columns: readonly string[],
  toError: () => Error,
): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw isUniqueViolation(error, columns) ? toError() : error;
  }
}

/** Turns a violation of the unique index over `columns` into a `Conflict` with this message. */
export function conflictIfTaken(columns: readonly string[], message: string) {
  return <Result>(write: PromiseLike<Result>): Promise<Result> =>
    mapUniqueViolation(write, columns, () => new Conflict(message));
}
