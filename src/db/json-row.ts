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
 * @param json The fields that are JSON texts, which become JSON.
 */
export function jsonRow(select: Select, json: readonly string[] = []): SQL {
  return sql`(select ${jsonFields(select, json)} from ${select} as result)`;
}

/** The row that a list of `jsonRow` has the fields of. */
export function mergeFields(objects: readonly object[]): object {
  return Object.assign({}, ...objects);
}

function jsonFields(select: Select, json: readonly string[]): SQL {
  const fields = Object.entries(select._.selectedFields as Fields);
  const objects = Array.from({ length: Math.ceil(fields.length / FIELDS_OF_OBJECT) }, (_, at) => {
    const some = fields.slice(at * FIELDS_OF_OBJECT, (at + 1) * FIELDS_OF_OBJECT);
    const pairs = some.map(
      ([name, field]) => sql`${sql.raw(`'${name}'`)}, ${toJson(field, json.includes(name))}`,
    );
    return sql`json_object(${sql.join(pairs, sql`, `)})`;
  });
  return sql`json_array(${sql.join(objects, sql`, `)})`;
}

const AS_THEY_ARE = ["string", "number"];

function toJson(field: unknown, isJson: boolean): SQL {
  const column = resultColumn(field);
  if (isJson) return sql`json(${column})`;
  if (is(field, SqlClass.Aliased)) return column;
  const { dataType } = field as Column;
  if (dataType === "json") return sql`json(${column})`;
  if (dataType === "boolean") {
    return sql`case ${column} when 1 then json('true') when 0 then json('false') end`;
  }
  if (!AS_THEY_ARE.includes(dataType)) throw new Error(`A ${dataType} has no form in JSON`);
  return column;
}

function resultColumn(field: unknown): SQL {
  if (is(field, SqlClass.Aliased)) return sql`result.${sql.identifier(field.fieldAlias)}`;
  if (is(field, Column)) return sql`result.${sql.identifier(field.name)}`;
  throw new Error("A select that becomes JSON has columns and aliases");
}
