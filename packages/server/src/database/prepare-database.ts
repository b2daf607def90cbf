import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../command-error.ts";
import { CREATE_APPLIED, type Migration } from "./migrations.ts";
import { damaged, explainSqliteError } from "./sqlite-errors.ts";

/** Copies that stay beside the newest. */
const KEPT_COPIES = 2;
const COPY = /^before-.*\.sqlite$/;
const PARTIAL = ".partial";

export interface DatabaseFiles {
  database: string;
  /** The folder of copies from before upgrades. */
  copies: string;
  migrations: readonly Migration[];
}

export interface PreparedDatabase {
  /** The names of the migrations that ran. */
  applied: readonly string[];
  /** The copy from before them. */
  copy: string | undefined;
}

/**
 * Creates the database, or copies and migrates it, while no other process has it open. All migrations are one
 * transaction: a crash, or one that fails, leaves the database as it was before.
 * @throws CommandError if it cannot be used as it is; then nothing has changed.
 */
export function prepareDatabase(files: DatabaseFiles): PreparedDatabase {
  try {
    if (existsSync(files.database)) requireUsable(files);
    mkdirSync(dirname(files.database), { recursive: true });
    return withDatabase(files.database, false, (database) => migrate(database, files));
  } catch (error) {
    throw explainSqliteError(error, files.database) ?? error;
  }
}

/** Reads every page: a damaged one would fail requests one by one. */
function requireUsable({ database: file, migrations }: DatabaseFiles): void {
  // Closing a connection that may write would change the file.
  withDatabase(file, true, (database) => {
    const rows = database.prepare("pragma quick_check(1)").all();
    if (rows[0]?.["quick_check"] !== "ok") throw damaged(file);
    requireKnown(readApplied(database), migrations);
  });
}

function withDatabase<T>(file: string, readOnly: boolean, run: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly });
  try {
    return run(database);
  } finally {
    database.close();
  }
}

function migrate(database: DatabaseSync, files: DatabaseFiles): PreparedDatabase {
  database.exec("pragma journal_mode = wal");
  const applied = readApplied(database);
  const pending = files.migrations.filter(({ name }) => !applied.includes(name));
  const isCopied = applied.length > 0 && pending.length > 0;
  const copy = isCopied ? copyDatabase(database, files) : undefined;
  apply(database, pending, files.database);
  return { applied: pending.map(({ name }) => name), copy };
}

function readApplied(database: DatabaseSync): string[] {
  const table = database.prepare("select 1 from sqlite_master where name = 'd1_migrations'").get();
  if (!table) return [];
  const rows = database.prepare("select name from d1_migrations order by id").all();
  return rows.map(({ name }) => String(name));
}

function requireKnown(applied: readonly string[], migrations: readonly Migration[]): void {
  const names = migrations.map(({ name }) => name);
  const unknown = applied.filter((name) => !names.includes(name));
  const [baseline = ""] = names;
  if (applied.length > 0 && !applied.includes(baseline)) {
    throw new CommandError(
      `The database is older than this release can migrate: it lacks ${baseline}. Nothing was changed.`,
    );
  }
  if (unknown.length === 0) return;
  throw new CommandError(
    `The database is newer than this release: it has ${unknown.join(", ")}. Nothing was changed. Start the release ` +
      "that ran last, or a newer one.",
  );
}

/** D1 refuses `VACUUM`, so this is the only time for it. */
function copyDatabase(database: DatabaseSync, { database: file, copies }: DatabaseFiles): string {
  mkdirSync(copies, { recursive: true, mode: 0o700 });
  requireSpace(file, copies);
  const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const copy = join(copies, `before-${time}.sqlite`);
  const partial = `${copy}${PARTIAL}`;
  try {
    database.prepare("vacuum into ?").run(partial);
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  removeOldCopies(copies, basename(copy));
  return copy;
}

function requireSpace(file: string, copies: string): void {
  const { size } = statSync(file);
  const { bavail, bsize } = statfsSync(copies);
  if (bavail * bsize > size) return;
  const megabytes = Math.ceil(size / 1_000_000);
  throw new CommandError(
    `The disk of ${copies} has no space for a copy of the database, which an upgrade makes first: ${megabytes} MB. ` +
      "Nothing was changed. Free some space, or delete old copies there, and start again.",
  );
}

function removeOldCopies(copies: string, newest: string): void {
  const others = readdirSync(copies).filter((name) => name !== newest);
  const old = others
    .filter((name) => COPY.test(name))
    .toSorted()
    .slice(0, -KEPT_COPIES);
  const interrupted = others.filter((name) => name.endsWith(PARTIAL));
  for (const name of [...old, ...interrupted]) rmSync(join(copies, name), { force: true });
}

function apply(database: DatabaseSync, migrations: readonly Migration[], file: string): void {
  database.exec("begin immediate");
  try {
    database.exec(CREATE_APPLIED);
    for (const migration of migrations) run(database, migration, file);
    database.exec("commit");
  } catch (error) {
    // SQLite has ended the transaction already after some errors.
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

function run(database: DatabaseSync, { name, sql }: Migration, file: string): void {
  try {
    database.exec(sql);
    database.prepare("insert into d1_migrations (name) values (?)").run(name);
  } catch (error) {
    const failed = `The migration ${name} failed: ${error instanceof Error ? error.message : error}. Nothing was changed. `;
    throw (
      explainSqliteError(error, file) ??
      new CommandError(`${failed}Start the release that ran last, and report this.`)
    );
  }
}
