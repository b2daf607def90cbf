import {
  and,
  type Column,
  eq,
  getTableColumns,
  getTableName,
  is,
  type SQL,
  sql,
} from "drizzle-orm";
import { getTableConfig, SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { LIMITS } from "../lib/limits.ts";
import type { RetentionPeriod } from "../lib/retention.ts";
import type { Statements } from "./batch.ts";
import type { Database } from "./client.ts";
import { nextVersion } from "./expected-version.ts";
import type { FixedBytes } from "./row-bytes.ts";

export interface OwnedTable {
  table: SQLiteTable;
  /** Foreign keys to the owners of a row. The row is deleted with any of its owners. */
  deletedWith: readonly SQLiteColumn[];
  /**
   * Foreign keys that become null when the resource that they refer to is deleted. The version of the row
   * increases, because the row is shown without it.
   */
  clearedWith?: readonly SQLiteColumn[];
  /** Its rows may be many: those of a deleted resource that leaves a tombstone stay for the purge. */
  purged?: true;
  /** What remains of a deleted resource until the purge, because rows that stay refer to it. */
  tombstone?: { resourceType: string; columns: Readonly<Record<string, unknown>> };
  /** How long its rows are kept. Their IDs are UUIDv7. Children are deleted with their row. */
  retention?: Retention;
  /** Its oldest rows go while the history of their organization is beyond its share. Children go with them. */
  rolled?: Rolled;
  /** Its rows at this time that may have a log outside of the database, which the purge deletes first. */
  hasLog?(now: number): SQL;
  /**
   * Whether none of its rows is unfinished, which keeps their owner from being deleted. Undefined: it has
   * no rows of this owner.
   */
  isIdle?(owner: SQLiteTable, id: string): SQL | undefined;
  /** The reason why rows with a `project_id` remain when their project is deleted. */
  outlivesProject?: string;
  /** The reason why rows remain when their organization is deleted. */
  outlivesOrganization?: string;
  /** The reason why `npm run backup` leaves the table out. */
  notInBackups?: string;
  /** Its rows are history of this kind, which the schedule counts. */
  history?: { kind: string; fixed?: FixedBytes };
}

/** Of the rows of an organization. The table has an index on `organization_id`, `id`. */
export interface Rolled {
  /** The rows in that index. Absent: all. */
  indexed?: SQL;
  /** Of these, the ones that may go. Absent: all. */
  mayGo?: SQL;
  /** How many rows of one other table belong to a row, at most. Absent: none. */
  children?: SQL;
}

export interface RolledTable extends Rolled {
  table: SQLiteTable;
  childKeys: readonly SQLiteColumn[];
  hasLog?: OwnedTable["hasLog"];
}

export interface Retention {
  period: RetentionPeriod;
  /** Of the rows that were created before `cutoff`, the ones to delete. Default: all. */
  isExpired?(cutoff: number): SQL;
}

/** Some rows, selected by an index, and the rows of other tables that are deleted with them. */
export interface OwnedRows {
  table: SQLiteTable;
  /** A foreign key of `table`. */
  key: SQLiteColumn;
  /** Their foreign keys to `table`. */
  childKeys: readonly SQLiteColumn[];
  hasLog?: OwnedTable["hasLog"];
}

/** The rows of an organization in one table, and those that they own, in the order of their deletion. */
export interface OrganizationRoot {
  table: SQLiteTable;
  /** The foreign key to the organization. */
  key: SQLiteColumn;
  owned: readonly OwnedRows[];
}

export class Ownership {
  readonly #tables: readonly OwnedTable[];

  constructor(tables: readonly OwnedTable[]) {
    this.#tables = tables;
  }

  tableNames(): string[] {
    return this.#tables.map(({ table }) => getTableName(table));
  }

  /**
   * The statements that delete all rows that a resource of `root` owns, children first, and clear the
   * foreign keys to it. They keep the resource itself. If it becomes a tombstone, so do those that can, the
   * rows that may be many stay, and of the others those beyond a number of each table: the purge deletes them.
   * `condition` must have the same outcome in each statement of the batch.
   * @param id Or a select of the IDs of several resources.
   */
  deletionOf(db: Database, root: SQLiteTable, id: string | SQL, condition: SQL): Statements {
    const owned = this.ownedBy(root);
    const leavesTombstone = this.#manifestOf(root)?.tombstone !== undefined;
    const deletions = childrenFirst(owned).flatMap((table) => {
      const isOwned = and(this.#belongsTo(table, root, id), condition);
      if (!leavesTombstone)
        return [[getTableName(table), db.delete(table).where(isOwned)] as const];
      const { purged = false, tombstone } = this.#manifestOf(table) ?? {};
      if (purged) return [];
      const first = sql`${table}.rowid in
        (select rowid from ${table} where ${isOwned} limit ${LIMITS.deletedRows.value})`;
      const statement = tombstone
        ? db.update(table).set(tombstone.columns).where(first)
        : db.delete(table).where(and(first, this.#isUnreferenced(table, owned)));
      return [[getTableName(table), statement] as const];
    });
    const cleared = this.#tables
      .filter(({ table }) => !owned.includes(table))
      .flatMap(({ clearedWith = [] }) => clearedWith)
      .filter((column) => referencedBy(column) === root);
    const updates = cleared.map((column) => {
      const where = and(isOneOf(column, id), condition);
      const table = tableOf(column);
      const { version } = getTableColumns(table);
      const update = db
        .update(table)
        .set({ [propertyOf(column)]: null, ...(version && { version: nextVersion(version) }) });
      return [`${getTableName(table)}.${column.name}`, update.where(where)] as const;
    });
    return Object.fromEntries([...deletions, ...updates]);
  }

  /** Whether nothing of a resource is unfinished, which keeps it from being deleted. */
  isIdle(root: SQLiteTable, id: string): SQL {
    const conditions = this.#tables.map(({ isIdle }) => isIdle?.(root, id));
    return and(...conditions) ?? sql`true`;
  }

  ownedBy(root: SQLiteTable): SQLiteTable[] {
    const owned = new Set<SQLiteTable>([root]);
    for (let size = 0; size < owned.size; ) {
      size = owned.size;
      for (const { table, deletedWith } of this.#tables) {
        if (deletedWith.some((column) => owned.has(referencedBy(column)))) owned.add(table);
      }
    }
    owned.delete(root);
    return [...owned];
  }

  /** The tables whose rows become tombstones of a type. */
  tombstonesOf(resourceType: string): SQLiteTable | undefined {
    return this.#tables.find(({ tombstone }) => tombstone?.resourceType === resourceType)?.table;
  }

  /** In which order to delete everything that a resource of `root` owns. */
  rowsOwnedBy(root: SQLiteTable): OwnedRows[] {
    const owned = this.ownedBy(root);
    return childrenFirst(owned).flatMap((table) => {
      const key = this.#keysOf(table).find((each) => referencedBy(each) === root);
      if (!key) return [];
      const childKeys = owned.flatMap((child) => {
        const keys = this.#keysOf(child);
        if (keys.some((each) => referencedBy(each) === root)) return [];
        return keys.find((each) => owned.includes(referencedBy(each))) ?? [];
      });
      const hasLog = this.#manifestOf(table)?.hasLog;
      return [
        {
          table,
          key,
          childKeys: childKeys.filter((each) => referencedBy(each) === table),
          ...(hasLog && { hasLog }),
        },
      ];
    });
  }

  /** The tables whose rows are deleted after a time, with the foreign keys of their children. */
  retained(): { table: SQLiteTable; retention: Retention; childKeys: SQLiteColumn[] }[] {
    return this.#tables.flatMap(({ table, retention }) => {
      return retention ? [{ table, retention, childKeys: this.#childKeysOf(table) }] : [];
    });
  }

  /** The tables whose oldest rows go when the history of an organization is beyond its share. */
  rolled(): RolledTable[] {
    return this.#tables.flatMap(({ table, rolled, hasLog }) => {
      const childKeys = this.#childKeysOf(table);
      return rolled ? [{ ...rolled, table, childKeys, ...(hasLog && { hasLog }) }] : [];
    });
  }

  /** The tables whose rows the schedule counts. */
  history(): { table: SQLiteTable; history: NonNullable<OwnedTable["history"]> }[] {
    return this.#tables.flatMap(({ table, history }) => (history ? [{ table, history }] : []));
  }

  /** The tables with an `organization_id` whose rows no other table owns, except those that outlive it. */
  rootsOfOrganization(): OrganizationRoot[] {
    return this.#tables.flatMap(({ table, deletedWith, outlivesOrganization }) => {
      const key = organizationIdOf(table);
      const isRoot = deletedWith.length === 0 && outlivesOrganization === undefined;
      return key && isRoot ? [{ table, key, owned: this.rowsOwnedBy(table) }] : [];
    });
  }

  /** The rows of an organization that only rows of `root` own, and that own none themselves. */
  ownedOnlyBy(root: SQLiteTable): OrganizationRoot[] {
    return this.#tables.flatMap(({ table, deletedWith }) => {
      const key = organizationIdOf(table);
      const isOwned =
        deletedWith.length > 0 && deletedWith.every((each) => referencedBy(each) === root);
      return key && isOwned ? [{ table, key, owned: [] }] : [];
    });
  }

  /** Whether none of the rows that refer to a row is left. */
  #isUnreferenced(table: SQLiteTable, owned: readonly SQLiteTable[]): SQL | undefined {
    const keys = this.#tables
      .filter((other) => owned.includes(other.table))
      .flatMap(({ deletedWith, clearedWith = [] }) => [...deletedWith, ...clearedWith])
      .filter((key) => referencedBy(key) === table);
    return and(
      ...keys.map((key) => {
        return sql`not exists (select 1 from ${key.table} where ${key} = ${idOf(table)})`;
      }),
    );
  }

  #manifestOf(table: SQLiteTable): OwnedTable | undefined {
    return this.#tables.find((each) => each.table === table);
  }

  #childKeysOf(table: SQLiteTable): SQLiteColumn[] {
    const keys = this.#tables.flatMap(({ deletedWith }) => deletedWith);
    return keys.filter((key) => referencedBy(key) === table);
  }

  #keysOf(table: SQLiteTable): readonly SQLiteColumn[] {
    return this.#manifestOf(table)?.deletedWith ?? [];
  }

  #belongsTo(table: SQLiteTable, root: SQLiteTable, id: string | SQL): SQL {
    const keys = this.#keysOf(table);
    const direct = keys.find((column) => referencedBy(column) === root);
    if (direct) return isOneOf(direct, id);
    const owned = this.ownedBy(root);
    const key = keys.find((column) => owned.includes(referencedBy(column)));
    if (!key) throw new Error(`${getTableName(table)} is not owned by ${getTableName(root)}`);
    const owner = referencedBy(key);
    return sql`${key} in (select ${idOf(owner)} from ${owner}
      where ${this.#belongsTo(owner, root, id)})`;
  }
}

function organizationIdOf(table: SQLiteTable): SQLiteColumn | undefined {
  return getTableConfig(table).columns.find(({ name }) => name === "organization_id");
}

function isOneOf(column: Column, id: string | SQL): SQL {
  return typeof id === "string" ? eq(column, id) : sql`${column} in (${id})`;
}

function childrenFirst(tables: readonly SQLiteTable[]): SQLiteTable[] {
  const remaining = new Set(tables);
  const ordered: SQLiteTable[] = [];
  while (remaining.size > 0) {
    const isReferenced = (table: SQLiteTable) =>
      [...remaining].some((each) => refersTo(each, table));
    const next = [...remaining].find((table) => !isReferenced(table));
    if (!next) throw new Error("The foreign keys of the tables form a cycle");
    remaining.delete(next);
    ordered.push(next);
  }
  return ordered;
}

function refersTo(child: SQLiteTable, parent: SQLiteTable): boolean {
  if (child === parent) return false;
  return getTableConfig(child).foreignKeys.some((key) => key.reference().foreignTable === parent);
}

function tableOf(column: SQLiteColumn): SQLiteTable {
  return column.table as SQLiteTable;
}

export function referencedBy(column: SQLiteColumn): SQLiteTable {
  const { foreignKeys } = getTableConfig(tableOf(column));
  const key = foreignKeys.find((each) => each.reference().columns.includes(column));
  if (!key) throw new Error(`${column.name} of ${getTableName(column.table)} is not a foreign key`);
  return key.reference().foreignTable as SQLiteTable;
}

export function idOf(table: SQLiteTable): Column {
  const id = getTableConfig(table).columns.find(({ primary }) => primary);
  if (!id) throw new Error(`${getTableName(table)} has no primary key of one column`);
  return id;
}

/** The name of a column in its table definition. */
function propertyOf(column: SQLiteColumn): string {
  const found = Object.entries(column.table).find(
    ([, each]) => is(each, SQLiteColumn) && each.name === column.name,
  );
  if (!found) throw new Error(`The table definition lacks ${column.name}`);
  return found[0];
}
