import { CommandError } from "../command-error.ts";
import { type Header, type Row, type RowLine, readRows, type Value, verifyFile } from "./file.ts";
import { newestMigration } from "./migration.ts";
import { BACKUP_TABLES, type BackupTable, tableNamed } from "./tables.ts";

const BATCH_ROWS = 200;
const BATCH_CHARACTERS = 500_000;
/** D1 allows this many in one statement. */
const MAXIMUM_PARAMETERS = 100;
/** IDs of skipped rows that the report lists. */
const LISTED_ROWS = 100;
/** Exists only while a restore is unfinished. */
const PROGRESS = "restore_progress";
/** Rows that an organization shares with others: the target may have them. */
const SHARED_TABLES: readonly string[] = ["accounts", "bootstraps"];

export interface RestoreReport {
  /** The number of inserted rows of each table, since the last interruption. */
  inserted: Record<string, number>;
  /** Rows without their parent, or with a name that another row has, which others wrote meanwhile. */
  skipped: number;
  /** `table key` of the first skipped rows. */
  skippedRows: string[];
}

interface Target {
  d1: D1Database;
  /** Undefined to restore everything. */
  organizationId: string | undefined;
  digest: string;
}

/**
 * Inserts the rows of a backup into a database without rows or, for one organization, without that
 * organization. If it is interrupted, a repetition with the same file continues it.
 * @param open Reads the lines of the file from the start. Called twice.
 */
export async function restore(
  d1: D1Database,
  open: () => AsyncIterable<string>,
  options: { organizationId?: string | undefined } = {},
): Promise<RestoreReport> {
  const { header, trailer } = await verifyFile(open());
  const organizationId = scopeOf(header, options.organizationId);
  await requireMigration(d1, header);
  const target = { d1, organizationId, digest: trailer.digest };
  const done = (await findProgress(target)) ?? (await begin(target));
  const restoration = new Restoration(target, done);
  for await (const line of readRows(open())) await restoration.add(line);
  return restoration.finish();
}

function scopeOf({ organization_id }: Header, wanted: string | undefined): string | undefined {
  if (wanted === undefined || organization_id === null || organization_id === wanted) {
    return wanted ?? organization_id ?? undefined;
  }
  throw new CommandError(`The file has only the organization ${organization_id}.`);
}

async function requireMigration(d1: D1Database, { migration, release }: Header): Promise<void> {
  const newest = await newestMigration(d1);
  if (newest === migration) return;
  throw new CommandError(
    `The file has the tables of the migration ${migration}, and the database those of ${newest}. ` +
      `Restore it with the release ${release} into a database of that release, and then update.`,
  );
}

/** The number of lines that an interrupted restore of the same file has handled. */
async function findProgress(target: Target): Promise<number | undefined> {
  const { d1 } = target;
  const exists = "select 1 from sqlite_master where type = 'table' and name = ?";
  if (!(await d1.prepare(exists).bind(PROGRESS).first())) return undefined;
  const found = await d1
    .prepare(`select lines from ${PROGRESS} where digest = ? and scope = ?`)
    .bind(target.digest, target.organizationId ?? "")
    .first<number>("lines");
  if (found !== null) return found;
  throw new CommandError(
    "The restore of another file was interrupted. Repeat it with that file, or start over with an " +
      "empty database.",
  );
}

async function begin({ d1, organizationId, digest }: Target): Promise<number> {
  await (organizationId === undefined ? requireEmpty(d1) : requireAbsent(d1, organizationId));
  await d1.batch([
    d1.prepare(`create table ${PROGRESS} (digest text, scope text, lines integer)`),
    d1.prepare(`insert into ${PROGRESS} values (?, ?, 0)`).bind(digest, organizationId ?? ""),
  ]);
  return 0;
}

async function requireEmpty(d1: D1Database): Promise<void> {
  const names = [...BACKUP_TABLES.keys()];
  const results = await d1.batch(names.map((name) => d1.prepare(`select 1 from ${name} limit 1`)));
  const full = names.filter((_, at) => results[at]?.results.length !== 0);
  if (full.length === 0) return;
  throw new CommandError(
    `The database has rows in ${full.join(", ")}, so nothing was restored. Restore into an empty ` +
      "database, or one organization with --org.",
  );
}

async function requireAbsent(d1: D1Database, organizationId: string): Promise<void> {
  const found = await d1
    .prepare(
      `select name <> char(127) || id as isLive, exists (select 1 from purges
        where organization_id = organizations.id) as isPurged from organizations where id = ?`,
    )
    .bind(organizationId)
    .first<{ isLive: number; isPurged: number }>();
  if (!found || (!found.isLive && !found.isPurged)) return;
  throw new CommandError(
    found.isLive
      ? `The database has the organization ${organizationId}, so nothing was restored. Restore into ` +
          "another database."
      : `The organization ${organizationId} is deleted, and the purge has not removed its data yet, so ` +
          "nothing was restored. Wait until the table purges has no row of it.",
  );
}

/** Inserts rows in batches, each with the number of lines that are then handled. */
class Restoration {
  readonly #target: Target;
  readonly #done: number;
  readonly #report: RestoreReport = { inserted: {}, skipped: 0, skippedRows: [] };
  /** By the account's ID in the file: the ID of the target's account with the same e-mail address. */
  readonly #accountIds = new Map<Value, string>();
  #lines = 0;
  /** The organization whose members the file contains at this point. */
  #currentId: Value | undefined;
  #batch: RowLine[] = [];
  #characters = 0;

  constructor(target: Target, done: number) {
    this.#target = target;
    this.#done = done;
  }

  async add(line: RowLine): Promise<void> {
    if (line.table === "organizations") this.#currentId = line.row["id"];
    this.#lines += 1;
    const isDone = this.#lines <= this.#done;
    // An interrupted restore has to find the accounts of the target again.
    if (!this.#isWanted(line) || (isDone && line.table !== "accounts")) return;
    this.#batch.push(line);
    this.#characters += JSON.stringify(line.row).length;
    const isFull = this.#batch.length >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS;
    if (isFull) await this.#flush();
  }

  async finish(): Promise<RestoreReport> {
    await this.#flush();
    await this.#target.d1.prepare(`drop table ${PROGRESS}`).run();
    return this.#report;
  }

  #isWanted({ table, row }: RowLine): boolean {
    const { organizationId } = this.#target;
    if (organizationId === undefined) return true;
    // The accounts follow their organization, and have no tenant.
    const isOfCurrent = table === "organizations" || table === "accounts";
    return (isOfCurrent ? this.#currentId : row["organization_id"]) === organizationId;
  }

  async #flush(): Promise<void> {
    const { d1 } = this.#target;
    const lines = this.#batch.splice(0);
    this.#characters = 0;
    await this.#findAccounts(lines);
    const groups = groupRows(lines.filter((line) => !this.#isReplaced(line)).map(this.#toTarget));
    const progress = d1.prepare(`update ${PROGRESS} set lines = max(lines, ?)`).bind(this.#lines);
    const results = await d1.batch<Row>([
      ...groups.map(({ table, rows }) => insertRows(d1, table, rows)),
      progress,
      // What a day may add to the audit log does not apply to what it had: see `audit_log_day`.
      d1
        .prepare("delete from audit_days where organization_id in (select value from json_each(?))")
        .bind(JSON.stringify(lines.map(({ row }) => row["organization_id"]))),
    ]);
    for (const [at, group] of groups.entries()) this.#count(group, results[at]?.results ?? []);
  }

  async #findAccounts(lines: readonly RowLine[]): Promise<void> {
    const accounts = lines.filter(({ table }) => table === "accounts").map(({ row }) => row);
    if (accounts.length === 0) return;
    const emails = JSON.stringify(accounts.map(({ email }) => email));
    const { results } = await this.#target.d1
      .prepare("select id, email from accounts where email in (select value from json_each(?))")
      .bind(emails)
      .all<{ id: string; email: string }>();
    const ids = new Map(results.map(({ id, email }) => [email, id]));
    for (const { id = null, email } of accounts) {
      const existing = ids.get(String(email));
      if (existing !== undefined && existing !== id) this.#accountIds.set(id, existing);
    }
  }

  #isReplaced({ table, row }: RowLine): boolean {
    return table === "accounts" && this.#accountIds.has(row["id"] ?? null);
  }

  /** `account_id` of a connection is another kind of ID, which is in no map. */
  readonly #toTarget = (line: RowLine): RowLine => {
    const accountId = this.#accountIds.get(line.row["account_id"] ?? null);
    if (accountId === undefined) return line;
    return { ...line, row: { ...line.row, account_id: accountId } };
  };

  #count({ table, rows }: RowGroup, inserted: readonly Row[]): void {
    const { name, primaryKey } = table;
    const keyOf = (row: Row) => primaryKey.map((column) => row[column]).join(" ");
    const keys = new Set(inserted.map(keyOf));
    this.#report.inserted[name] = (this.#report.inserted[name] ?? 0) + keys.size;
    if (SHARED_TABLES.includes(name)) return;
    for (const row of rows) {
      if (keys.has(keyOf(row))) continue;
      this.#report.skipped += 1;
      const { skippedRows } = this.#report;
      if (skippedRows.length < LISTED_ROWS) skippedRows.push(`${name} ${keyOf(row)}`);
    }
  }
}

interface RowGroup {
  table: BackupTable;
  rows: Row[];
}

/** Successive rows of one table, as many as one statement can have parameters for. */
function groupRows(lines: readonly RowLine[]): RowGroup[] {
  const groups: RowGroup[] = [];
  for (const { table, row } of lines) {
    const last = groups.at(-1);
    const hasRoom =
      last?.table.name === table &&
      (last.rows.length + 1) * last.table.columns.length <= MAXIMUM_PARAMETERS;
    if (hasRoom) last.rows.push(row);
    else groups.push({ table: tableNamed(table), rows: [row] });
  }
  return groups;
}

/** A deleted organization leaves a row without its name. */
function replaceTombstone(columns: readonly string[]): string {
  const values = columns.map((column) => `"${column}" = excluded."${column}"`);
  return `on conflict (id) do update set ${values.join(", ")}
    where organizations.name = char(127) || organizations.id`;
}

/** Leaves out a row whose parent is missing, and clears the references that may be cleared. */
function insertRows(
  d1: D1Database,
  { name, columns, primaryKey, references }: BackupTable,
  rows: readonly Row[],
): D1PreparedStatement {
  const places = rows.map(() => `(${columns.map(() => "?").join(", ")})`).join(", ");
  const existsOf = (column: string, table: string) =>
    `exists (select 1 from ${table} as parent where parent.id = item."${column}")`;
  const values = columns.map((column) => {
    const cleared = references.find((key) => key.column === column && key.isCleared);
    if (!cleared) return `item."${column}"`;
    return `case when ${existsOf(column, cleared.table)} then item."${column}" end`;
  });
  const conditions = references
    .filter(({ isCleared }) => !isCleared)
    .map(({ column, table }) => `(item."${column}" is null or ${existsOf(column, table)})`);
  const quoted = columns.map((column) => `"${column}"`).join(", ");
  return d1
    .prepare(
      `with item (${quoted}) as (values ${places})
        insert into ${name} (${quoted}) select ${values.join(", ")} from item
        where ${["true", ...conditions].join(" and ")}
        ${name === "organizations" ? replaceTombstone(columns) : ""}
        on conflict do nothing returning ${primaryKey.join(", ")}`,
    )
    .bind(...rows.flatMap((row) => columns.map((column) => row[column] ?? null)));
}
