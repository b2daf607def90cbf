import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../command-error.ts";
import { explainSqliteError, isBusy } from "../database/sqlite-errors.ts";

interface Holder {
  pid: number;
  /** What it does, such as "at http://localhost:8787". */
  use: string;
}

const FULL_SYNC_IS_NOT_NEEDED = "pragma synchronous = off";

/**
 * Lets no other process use the folder until this one ends, however it ends: the lock is the system's, which SQLite
 * takes for a transaction. A file with a process ID would outlive a crash, and every container has a process 1.
 * @throws CommandError that names the process that has the lock.
 */
export function lockFolder(file: string, holder: Holder): { release(): void } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec(FULL_SYNC_IS_NOT_NEEDED);
    database.exec("begin immediate; drop table if exists holder; create table holder (pid, use)");
    database.prepare("insert into holder values (?, ?)").run(holder.pid, holder.use);
    // Whoever is refused can read it, and this process has the lock again.
    database.exec("commit; begin immediate");
    const locked = database;
    return { release: () => locked.close() };
  } catch (error) {
    const refusal = isBusy(error) ? describe(database) : explainSqliteError(error, file);
    database?.close();
    throw refusal ?? error;
  }
}

function describe(database: DatabaseSync | undefined): CommandError {
  const { pid, use } = readHolder(database);
  const who = pid === undefined ? "" : `, ${use}: stop process ${pid} first`;
  return new CommandError(`Longshore already runs on this data${who}.`);
}

/** Nothing at the moment when the other process writes it. */
function readHolder(database: DatabaseSync | undefined): Partial<Holder> {
  try {
    return database?.prepare("select pid, use from holder").get() ?? {};
  } catch {
    return {};
  }
}
