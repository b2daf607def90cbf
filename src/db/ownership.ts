import { and, type Column, eq, getTableName, is, type SQL, sql } from "drizzle-orm";
import { getTableConfig, SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Statements } from "./batch.ts";
import type { Database } from "./client.ts";

export interface OwnedTable {
  table: SQLiteTable;
  /** Foreign keys to the owners of a row. The row is deleted with any of its owners. */
  deletedWith: readonly SQLiteColumn[];
  /** Foreign keys that become null when the record that they refer to is deleted. */
  clearedWith?: readonly SQLiteColumn[];
  /** The reason why rows with a `project_id` remain when their project is deleted. */
  outlivesProject?: string;
  /** The reason why `npm run backup` leaves the table out. */
  notInBackups?: string;
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
   * The statements that delete all rows that a record of `root` owns, children first, and clear the
   * foreign keys to it. They keep the record itself. `condition` must have the same outcome in each
   * statement of the batch.
   * @param id Or a select of the IDs of several records.
   */
  deletionOf(db: Database, root: SQLiteTable, id: string | SQL, condition: SQL): Statements {
    const owned = this.ownedBy(root);
    const deletions = childrenFirst(owned).map((table) => {
      const where = and(this.#belongsTo(table, root, id), condition);
      return [getTableName(table), db.delete(table).where(where)] as const;
    });
    const cleared = this.#tables
      .filter(({ table }) => !owned.includes(table))
      .flatMap(({ clearedWith = [] }) => clearedWith)
      .filter((column) => referencedBy(column) === root);
    const updates = cleared.map((column) => {
      const where = and(isOneOf(column, id), condition);
      const table = tableOf(column);
      const update = db.update(table).set({ [propertyOf(column)]: null });
      return [`${getTableName(table)}.${column.name}`, update.where(where)] as const;
    });
    return Object.fromEntries([...deletions, ...updates]);
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

  #belongsTo(table: SQLiteTable, root: SQLiteTable, id: string | SQL): SQL {
    const keys = this.#tables.find((each) => each.table === table)?.deletedWith ?? [];
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

function referencedBy(column: SQLiteColumn): SQLiteTable {
  const { foreignKeys } = getTableConfig(tableOf(column));
  const key = foreignKeys.find((each) => each.reference().columns.includes(column));
  if (!key) throw new Error(`${column.name} of ${getTableName(column.table)} is not a foreign key`);
  return key.reference().foreignTable as SQLiteTable;
}

function idOf(table: SQLiteTable): Column {
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
