import { DrizzleQueryError } from "drizzle-orm/errors";

/**
 * What D1 itself said of a failed statement. The error that Drizzle wraps around it carries the
 * bound parameters in its message, and those may be secrets: that one is never shown or logged.
 */
export function databaseMessage(error: unknown): string | undefined {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  return cause instanceof Error && /D1_|SQLITE_/.test(cause.message) ? cause.message : undefined;
}

/** Whether a unique index refused the write, `columns` as SQLite names them: `table.column`. */
function isUniqueViolation(error: unknown, ...columns: readonly string[]): boolean {
  const message = databaseMessage(error);
  return message?.includes(`UNIQUE constraint failed: ${columns.join(", ")}`) === true;
}

/**
 * Whether a foreign key refused the write: a row that it names, or that names it, is in the way.
 */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("FOREIGN KEY constraint failed") === true;
}

/** Whether a batch was rolled back because it would exceed a limit (`limit_checks`). */
export function isLimitViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("CHECK constraint failed: limit_exceeded") === true;
}

/** Whether the database gave up for lack of time, of its own or of those in the queue before us. */
export function isTimeout(error: unknown): boolean {
  return /time(d )?[ -]?out|exceeded its CPU time|overloaded|queued for too long/i.test(
    databaseMessage(error) ?? "",
  );
}

/** The result of a write, or `refusal` if a unique index over `columns` stood in its way. */
export async function mapUniqueViolation<Result>(
  write: PromiseLike<Result>,
  columns: readonly string[],
  refusal: () => Error,
): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw isUniqueViolation(error, ...columns) ? refusal() : error;
  }
}
