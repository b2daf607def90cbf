import { DrizzleQueryError } from "drizzle-orm/errors";
import type { ApiError } from "../lib/errors.ts";

/**
 * D1's own message about a failed statement. The message of the error that Drizzle wraps around it
 * contains the bound parameters, which can be secrets: never return or log that message.
 */
export function databaseMessage(error: unknown): string | undefined {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  return cause instanceof Error && /D1_|SQLITE_/.test(cause.message) ? cause.message : undefined;
}

/** What a write throws for a unique index that refuses it, by the columns: `table.column, table.column`. */
export type Taken = Readonly<Record<string, ApiError>>;

/** A row refers to a resource that does not exist, or a resource to delete is still referred to. */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("FOREIGN KEY constraint failed") === true;
}

/** A limit rolled the batch back (table `limit_checks`). */
export function isLimitViolation(error: unknown): boolean {
  return databaseMessage(error)?.includes("CHECK constraint failed: limit_exceeded") === true;
}

/** The audit log of an organization has its entries of the day (trigger `audit_log_day`). */
export function isAuditLimit(error: unknown): boolean {
  return databaseMessage(error)?.includes("audit_limit_reached") === true;
}

/** An organization, or all of one founder, have stored too much for repeats (trigger `idempotency_records_size`). */
export function isIdempotencyLimit(error: unknown): boolean {
  return databaseMessage(error)?.includes("idempotency_limit_reached") === true;
}

export function isTimeout(error: unknown): boolean {
  return /time(d )?[ -]?out|exceeded its CPU time|overloaded|queued for too long/i.test(
    databaseMessage(error) ?? "",
  );
}

/** Throws the error of the unique index that refused the write. */
export async function refuseTaken<Result>(
  write: PromiseLike<Result>,
  taken: Taken = {},
): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    const message = databaseMessage(error) ?? "";
    const columns = Object.keys(taken).find((each) =>
      message.includes(`UNIQUE constraint failed: ${each}`),
    );
    throw taken[columns ?? ""] ?? error;
  }
}
