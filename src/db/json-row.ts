import { Column, is, type SQL, type SQLWrapper, SQL as SqlClass, sql } from "drizzle-orm";

type Fields = Readonly<Record<string, unknown>>;

/** A select that Drizzle has built. The columns of a joined select have aliases. */
interface Select extends SQLWrapper {
  readonly _: { readonly selectedFields: unknown };
}

/** D1 permits 32 arguments of a function: a name and a value for each field. */
const FIELDS_OF_OBJECT = 16;

/**
 * The row of a select as JSON, in the form that Drizzle gives it to TypeScript: a list of objects that
 * have some of the fields each. Null if there is no row.
 */
export function jsonRow(select: Select): SQL {
  return sql`(select ${jsonFields(select)} from ${select} as result)`;
}

/** The rows of a select as a JSON list, each like that of `jsonRow`. */
export function jsonRows(select: Select): SQL {
  return sql`(select json_group_array(json(item.fields)) from
    (select ${jsonFields(select)} as fields from ${select} as result) as item)`;
}

/** The row that a list of `jsonRow` has the fields of. */
export function mergeFields(objects: readonly object[]): object {
  return Object.assign({}, ...objects);
}

function jsonFields(select: Select): SQL {
  const fields = Object.entries(select._.selectedFields as Fields);
  const objects = Array.from({ length: Math.ceil(fields.length / FIELDS_OF_OBJECT) }, (_, at) => {
    const some = fields.slice(at * FIELDS_OF_OBJECT, (at + 1) * FIELDS_OF_OBJECT);
    const pairs = some.map(([name, field]) => sql`${sql.raw(`'${name}'`)}, ${toJson(field)}`);
    return sql`json_object(${sql.join(pairs, sql`, `)})`;
  });
  return sql`json_array(${sql.join(objects, sql`, `)})`;
}

function toJson(field: unknown): SQL {
  if (is(field, SqlClass.Aliased)) return resultColumn(field.fieldAlias);
  if (!is(field, Column)) throw new Error("A select that becomes JSON has columns and aliases");
  const column = resultColumn(field.name);
  if (field.dataType === "json") return sql`json(${column})`;
  if (field.dataType !== "boolean") return column;
  return sql`case ${column} when 1 then json('true') when 0 then json('false') end`;
}

function resultColumn(name: string): SQL {
  return sql`result.${sql.identifier(name)}`;
}
