import { html } from "hono/html";
import { type Html, renderInline } from "./markdown.ts";
import type { Schema, Schemas, Shape } from "./schemas.ts";

const DEEPEST = 6;
/** A longer pattern is there for those who ask for it; the description says it in words. */
const LONGEST_PATTERN = 36;

/** A named value of a certain shape: a property or a parameter. */
export interface Field {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string | undefined;
}

/** How fields are told. */
export interface Telling {
  schemas: Schemas;
  /**
   * Which fields are marked: in what is sent, those that must be there; in what is answered, those
   * that may be missing.
   */
  mark: "required" | "optional";
  depth?: number;
}

/** The properties of an object as fields, in the order of the schema. */
export function fieldsOf({ properties = {}, required = [] }: Shape): Field[] {
  return Object.entries(properties).map(([name, schema]) => {
    return { name, schema, required: required.includes(name) };
  });
}

/** What each field holds; a field that is an object, or a list of them, shows its own fields. */
export function renderFields(fields: readonly Field[], telling: Telling): Html {
  return html`<dl class="fields">${fields.map((field) => renderField(field, telling))}</dl>`;
}

function renderField(field: Field, telling: Telling): Html {
  const { schemas, mark } = telling;
  const shape = schemas.resolve(field.schema);
  const description = field.description ?? shape.description;
  // What a linked schema says of itself stands where the link leads.
  const own =
    schemas.isLinked(shape.name) && description === schemas.named(shape.name).description
      ? undefined
      : description;
  const isMarked = field.required === (mark === "required");
  return html`<div>
<dt><code>${field.name}</code> <span class="type">${renderType(shape, schemas)}</span>
${isMarked ? html`<span class="${mark}">${mark}</span>` : ""}</dt>
<dd>${own ? html`<p>${renderInline(own)}</p>` : ""}
${renderLimits(shape, schemas)}
${renderInner(shape, telling)}</dd>
</div>`;
}

/** The type in words, with a link where the schema has a place of its own. */
export function renderType(shape: Shape, schemas: Schemas): Html {
  const orNull = shape.nullable ? " or null" : "";
  return html`${renderTypeAlone(shape, schemas)}${orNull}`;
}

function renderTypeAlone(shape: Shape, schemas: Schemas): Html | string {
  const { name, types, variants, items, format, properties, additionalProperties: rest } = shape;
  if (schemas.isLinked(name)) return html`<a href="#schema-${name}">${name}</a>`;
  if (items) return html`array of ${renderType(schemas.resolve(items), schemas)}`;
  if (typeof rest === "object") {
    return html`map of string to ${renderType(schemas.resolve(rest), schemas)}`;
  }
  if (variants.length > 0) {
    const kinds = variants.map((each) => schemas.resolve(each).types.join(" or ") || "any value");
    return [...new Set(kinds)].join(" or ");
  }
  if (properties && name !== undefined) return name;
  if (types.length === 0) return "any value";
  return types.join(" or ") + (format && types[0] === "string" ? `, ${format}` : "");
}

/** What a value must keep to, beyond its type. */
export function renderLimits(shape: Shape, schemas: Schemas): Html | string {
  const of = shape.items && !shape.enum ? schemas.resolve(shape.items) : shape;
  const { pattern } = schemas.isLinked(of.name) ? {} : of;
  const limits = [
    of.enum && html`One of ${of.enum.map((each) => html`<code>${String(each)}</code> `)}`,
    range(shape.minimum, shape.maximum, ""),
    range(shape.minLength, shape.maxLength, " characters"),
    range(shape.minItems, shape.maxItems, " items"),
    shape.default !== undefined && html`Default <code>${String(shape.default)}</code>`,
    pattern && renderPattern(pattern),
  ].filter(Boolean);
  if (limits.length === 0) return "";
  return html`<ul class="limits">${limits.map((limit) => html`<li>${limit}</li>`)}</ul>`;
}

function range(least: number | undefined, most: number | undefined, what: string) {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${what}`;
  if (least !== undefined) return `At least ${least}${what}`;
  return most !== undefined && `At most ${most}${what}`;
}

function renderPattern(pattern: string): Html {
  if (pattern.length <= LONGEST_PATTERN) return html`Matches <code>${pattern}</code>`;
  return html`<details><summary>Pattern</summary><code>${pattern}</code></details>`;
}

/** The fields inside a value, unless they are shown where its type links to. */
export function renderInner(shape: Shape, telling: Telling): Html | string {
  const { schemas, mark, depth = 0 } = telling;
  if (depth > DEEPEST || schemas.isLinked(shape.name)) return "";
  const deeper = { schemas, mark, depth: depth + 1 };
  if (shape.properties) return renderFields(fieldsOf(shape), deeper);
  const rest = shape.additionalProperties;
  const inside = shape.items ?? (typeof rest === "object" ? rest : undefined);
  if (inside) return renderInner(schemas.resolve(inside), deeper);
  const variants = shape.variants
    .map((each) => renderInner(schemas.resolve(each), deeper))
    .filter((each) => each !== "");
  if (variants.length === 0) return "";
  return html`<p>One of these:</p>
<ul class="variants">${variants.map((variant) => html`<li>${variant}</li>`)}</ul>`;
}
