import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { FEATURES } from "../../../../src/features/index.ts";

export interface Reference {
  column: string;
  table: string;
  /** Whether the column becomes null without the record that it refers to. Otherwise the row goes. */
  isCleared: boolean;
}

export interface BackupTable {
  name: string;
  columns: readonly string[];
  primaryKey: readonly string[];
  references: readonly Reference[];
  /** The record that a row belongs to, if the primary key begins with a reference to it. */
  partOf: Reference | undefined;
}

/** Every table of the features that a backup contains, parents before children. */
export const BACKUP_TABLES: ReadonlyMap<string, BackupTable> = new Map(
  parentsFirst(
    FEATURES.flatMap(({ tables = [] }) => tables)
      .filter(({ notInBackups }) => notInBackups === undefined)
      .map(({ table, clearedWith = [] }) =>
        describe(
          table,
          clearedWith.map(({ name }) => name),
        ),
      ),
  ).map((table) => [table.name, table]),
);

/** @throws If no feature has the table. */
export function tableNamed(name: string): BackupTable {
  const table = BACKUP_TABLES.get(name);
  if (!table) throw new Error(`No feature has a table ${name} for backups`);
  return table;
}

/** The tables whose rows are parts of a table's records. */
export function partsOf(name: string): BackupTable[] {
  return [...BACKUP_TABLES.values()].filter(({ partOf }) => partOf?.table === name);
}

function describe(table: SQLiteTable, cleared: readonly string[]): BackupTable {
  const { columns, primaryKeys, foreignKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns);
  const primaryKey = (
    composite.length > 0 ? composite : columns.filter(({ primary }) => primary)
  ).map(({ name }) => name);
  const references = foreignKeys.map((key) => {
    const { columns: own, foreignTable } = key.reference();
    const column = own.map(({ name }) => name).join();
    return { column, table: getTableName(foreignTable), isCleared: cleared.includes(column) };
  });
  return {
    name: getTableName(table),
    columns: Object.values(getTableColumns(table)).map(({ name }) => name),
    primaryKey,
    references,
    partOf: references.find(({ column }) => column === primaryKey[0]),
  };
}

function parentsFirst(tables: readonly BackupTable[]): BackupTable[] {
  const ordered: BackupTable[] = [];
  while (ordered.length < tables.length) {
    const isPlaced = (name: string) => ordered.some((each) => each.name === name);
    const next = tables.find(
      ({ name, references }) => !isPlaced(name) && references.every((key) => isPlaced(key.table)),
    );
    if (!next) throw new Error("The foreign keys of the tables form a cycle");
    ordered.push(next);
  }
  return ordered;
}
