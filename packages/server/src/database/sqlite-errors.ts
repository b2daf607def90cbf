import { dirname } from "node:path";
import { CommandError } from "../command-error.ts";
import { fullDisk, isFull } from "../data/full-disk.ts";

/** The primary result codes of SQLite (https://sqlite.org/rescode.html). */
const BUSY = 5;
const READONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** The low byte. The others tell variants apart. */
const PRIMARY = 0xff;

export function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY;
}

/** What to do about a database that cannot be used. Undefined: the error is another. */
export function explainSqliteError(error: unknown, file: string): CommandError | undefined {
  switch (codeOf(error)) {
    case FULL:
      return new CommandError(fullDisk(file));
    case CORRUPT:
    case NOT_A_DATABASE:
      return damaged(file);
    case BUSY:
      return new CommandError(
        `Another program uses ${file}. Stop it and start again: only one may have the database open.`,
      );
    case READONLY:
    case CANNOT_OPEN:
      return new CommandError(`Cannot write ${file}. Make it writable for this user.`);
    case IO_ERROR:
      if (isFull(dirname(file))) return new CommandError(fullDisk(file));
      return new CommandError(
        `The disk of ${file} fails (${messageOf(error)}). Nothing was changed. Check the disk and start again.`,
      );
    default:
      return undefined;
  }
}

export function damaged(file: string): CommandError {
  return new CommandError(
    `The database ${file} is damaged. Nothing was changed. Keep the folder, and restore your newest backup into ` +
      "another one: longshore-server restore FILE --data NEW_FOLDER",
  );
}

function codeOf(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code & PRIMARY : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
