import type { GetColumnData } from "drizzle-orm";
import { getTableName } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { EncryptionContext } from "../lib/cipher.ts";

type Keys = { readonly id: SQLiteColumn } & Readonly<Record<string, SQLiteColumn>>;
type KeysOf<Columns extends Keys> = { [Name in keyof Columns]: GetColumnData<Columns[Name]> };

/** A column of sealed texts, for the code that seals all of them again. */
export interface SealedColumn {
  table: string;
  column: string;
  /** The columns that the context consists of, by the names that `contextOf` reads. */
  keys: Readonly<Record<string, string>>;
  contextOf(keys: Readonly<Record<string, unknown>>): EncryptionContext;
}

/** @param keys The ID of the row and all its foreign keys. None of them may ever change. */
export function sealedColumn<Columns extends Keys>(
  column: SQLiteColumn,
  keys: Columns,
  contextOf: (keys: KeysOf<Columns>) => EncryptionContext,
): SealedColumn {
  const names = Object.entries(keys).map(([name, key]) => [name, key.name] as const);
  return {
    table: getTableName(column.table),
    column: column.name,
    keys: Object.fromEntries(names),
    contextOf: (row) => contextOf(row as KeysOf<Columns>),
  };
}
