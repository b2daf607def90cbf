import { DrizzleQueryError } from "drizzle-orm/errors";
import { Conflict } from "../lib/errors.ts";

/**
 * D1's own message about a failed statement. The message of the error that Drizzle wraps around it
 * contains the bound parameters, which can be secrets: never return or log that message.
 */
export function databaseMessage(error: unknown): string | undefined {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  return cause instanceof Error && /D1_|SQLITE_/.test(cause.message) ? cause.message : undefined;
}

/** A column is `table.column`. */
function isUniqueViolation(error: unknown, columns: readonly string[]): boolean {
  const message = databaseMessage(error);
  return message?.includes(`UNIQUE constraint failed: ${columns.join(", ")}`) === true;
}

/** A row refers to a record that does not exist, or a record to delete is still referred to. */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("FOREIGN KEY constraint failed") === true;
}

/** A limit rolled the batch back (table `limit_checks`). */
export function isLimitViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("CHECK constraint failed: limit_exceeded") === true;
}

export function isTimeout(error: unknown): boolean {
  return /time(d )?[ -]?out|exceeded its CPU time|overloaded|queued for too long/i.test(
    databaseMessage(error) ?? "",
  );
}

/** Throws `toError()` if a unique index over `columns` rejected the write. */
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

export function conflictIfTaken(columns: readonly string[], message: string) {
  return <Result>(write: PromiseLike<Result>): Promise<Result> =>
    mapUniqueViolation(write, columns, () => new Conflict(message));
}
