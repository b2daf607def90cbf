import { CliError } from "./errors.ts";
import { requireExactNumbers } from "./exact-json.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Field {
  name: string;
  value: Json;
}

/** Parses `name=text` and `name:=json`. Throws a `CliError` for anything else. */
export function parseField(argument: string): Field {
  const [, name, operator, text = ""] = /^([^=:]+)(:?=)(.*)$/s.exec(argument) ?? [];
  if (!name) {
    throw new CliError(`Write each field as name=text or name:=json; "${argument}" is neither.`);
  }
  return { name, value: operator === "=" ? text : parseJson(name, text) };
}

function parseJson(name: string, text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    requireExactNumbers(text, `${name}:=`);
    return value;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      `${name}:= needs a JSON value, such as 3, true or '["a"]'; "${text}" is not.`,
    );
  }
}

/** The body of a request. */
export function toBody(fields: readonly Field[]): string {
  const body = new Map<string, Json>();
  for (const { name, value } of fields) {
    if (body.has(name)) throw new CliError(`The field ${name} is given twice.`);
    body.set(name, value);
  }
  return JSON.stringify(Object.fromEntries(body));
}

/** The query of a request. A name may occur several times. */
export function toQuery(fields: readonly Field[]): [name: string, text: string][] {
  return fields.map(({ name, value }) => [name, toText(value)]);
}

/** The value at a path such as `data.0.id`, or undefined. */
export function select(json: Json, path: string): Json | undefined {
  let value: Json | undefined = json;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, Json>)[key];
  }
  return value;
}

/** Text as it is, other values as JSON. */
export function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
