import { normalizeDefinition } from "./definitions.ts";

/** Runs a query, and returns its rows. */
export type ReadRows = (sql: string) => Promise<Record<string, unknown>[]>;

/** What two databases have to have in common, each part with a name and a text by which it is compared. */
export type Schema = ReadonlyMap<string, string>;

/** Without the tables of SQLite, of D1 and of wrangler. */
const OBJECTS = `(select * from sqlite_master where sql is not null and tbl_name <> 'd1_migrations'
  and tbl_name not like 'sqlite\\_%' escape '\\' and tbl_name not like '\\_cf\\_%' escape '\\')`;
const TABLES = `(select * from ${OBJECTS} where type = 'table') as t`;

const PARTS = [
  // A column's place in its table does not count: a column that was added later is the last one.
  `select 'column ' || t.name || '.' || c.name as part,
    json_array(upper(c.type), c."notnull", c.dflt_value, c.pk, c.hidden) as text
  from ${TABLES} join pragma_table_xinfo(t.name) as c`,
  `select 'foreign key ' || t.name || '.' || k."from" || ' to ' || k."table" as part,
    json_array(k."to", k.on_update, k.on_delete, k.match) as text
  from ${TABLES} join pragma_foreign_key_list(t.name) as k`,
  `select 'index ' || i.name || ' of ' || t.name || ', part ' || c.seqno as part,
    json_array(i."unique", i.partial, c.name, c."desc", c.coll, c.key) as text
  from ${TABLES} join pragma_index_list(t.name) as i join pragma_index_xinfo(i.name) as c
  where i.origin = 'c'`,
];
const DEFINITIONS = `select type || ' ' || name as part, sql from ${OBJECTS} where type <> 'table'`;

/** Reads tables, indexes, foreign keys and triggers, without the text of `CREATE TABLE`. */
export async function readSchema(read: ReadRows): Promise<Schema> {
  const schema = new Map<string, string>();
  for (const query of PARTS) {
    for (const { part, text } of await read(query)) schema.set(String(part), String(text));
  }
  for (const { part, sql } of await read(DEFINITIONS)) {
    schema.set(String(part), normalizeDefinition(String(sql)));
  }
  return schema;
}

/** The names of the parts that only one schema has, or that differ. */
export function findDifferences(one: Schema, other: Schema): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name)).toSorted();
}
