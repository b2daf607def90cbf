import { html } from "hono/html";
import { linkToSchema } from "./links.ts";
import { type Html, renderInline } from "./markdown.ts";
import type { Schema, Schemas, Shape } from "./schemas.ts";

const MAX_DEPTH = 6;
/** Longer patterns are collapsed: the description states them in words. */
const MAX_PATTERN_LENGTH = 36;

export interface Field {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string | undefined;
  /** Of a parameter. */
  in?: string;
}

export interface FieldOptions {
  schemas: Schemas;
  /** The fields that get a label: `required` ones in requests, `optional` ones in responses. */
  labeled: "required" | "optional";
  depth?: number;
}

export function fieldsOf({ properties = {}, required = [] }: Shape): Field[] {
  return Object.entries(properties).map(([name, schema]) => {
    return { name, schema, required: required.includes(name) };
  });
}

export function renderFields(fields: readonly Field[], options: FieldOptions): Html {
  return html`<dl class="fields">${fields.map((field) => renderField(field, options))}</dl>`;
}

function renderField(field: Field, options: FieldOptions): Html {
  const { schemas, labeled } = options;
  const shape = schemas.resolve(field.schema);
  const description = field.description ?? shape.description;
  // The description of a linked schema is at the link's target.
  const shownDescription =
    schemas.isLinked(shape.name) && description === schemas.named(shape.name).description
      ? undefined
      : description;
  const hasLabel = field.required === (labeled === "required");
  return html`<div${renderAttributes(field, shape)}>
<dt><code>${field.name}</code> <span class="type">${renderType(shape, schemas)}</span>
${hasLabel ? html`<span class="${labeled}">${labeled}</span>` : ""}</dt>
<dd>${shownDescription ? html`<p>${renderInline(shownDescription)}</p>` : ""}
${renderLimits(shape, schemas)}
${renderInnerFields(shape, options)}</dd>
</div>`;
}

/** For the script, which sends requests. */
function renderAttributes({ name, required, in: location }: Field, { example }: Shape) {
  if (!location) return "";
  const value = example === undefined ? "" : html` data-example="${String(example)}"`;
  return html` data-parameter="${name}" data-in="${location}"${required ? " data-required" : ""}${value}`;
}

export function renderType(shape: Shape, schemas: Schemas): Html {
  const orNull = shape.nullable ? " or null" : "";
  return html`${renderNonNullType(shape, schemas)}${orNull}`;
}

function renderNonNullType(shape: Shape, schemas: Schemas): Html | string {
  const { name, types, variants, items, format, properties, additionalProperties: rest } = shape;
  if (schemas.isLinked(name)) return html`<a href="${linkToSchema(name)}">${name}</a>`;
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

export function renderLimits(shape: Shape, schemas: Schemas): Html | string {
  const limited = shape.items && !shape.enum ? schemas.resolve(shape.items) : shape;
  const { pattern } = schemas.isLinked(limited.name) ? {} : limited;
  const limits = [
    limited.enum && html`One of ${limited.enum.map((each) => html`<code>${String(each)}</code> `)}`,
    renderRange(shape.minimum, shape.maximum, ""),
    renderRange(shape.minLength, shape.maxLength, " characters"),
    renderRange(shape.minItems, shape.maxItems, " items"),
    shape.default !== undefined && html`Default <code>${String(shape.default)}</code>`,
    pattern && renderPattern(pattern),
  ].filter(Boolean);
  if (limits.length === 0) return "";
  return html`<ul class="limits">${limits.map((limit) => html`<li>${limit}</li>`)}</ul>`;
}

function renderRange(minimum: number | undefined, maximum: number | undefined, unit: string) {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}${unit}`;
  if (minimum !== undefined) return `At least ${minimum}${unit}`;
  return maximum !== undefined && `At most ${maximum}${unit}`;
}

function renderPattern(pattern: string): Html {
  if (pattern.length <= MAX_PATTERN_LENGTH) return html`Matches <code>${pattern}</code>`;
  return html`<details><summary>Pattern</summary><code>${pattern}</code></details>`;
}

export function renderInnerFields(shape: Shape, options: FieldOptions): Html | string {
  const { schemas, labeled, depth = 0 } = options;
  if (depth > MAX_DEPTH || schemas.isLinked(shape.name)) return "";
  const deeper = { schemas, labeled, depth: depth + 1 };
  if (shape.properties) return renderFields(fieldsOf(shape), deeper);
  const rest = shape.additionalProperties;
  const inside = shape.items ?? (typeof rest === "object" ? rest : undefined);
  if (inside) return renderInnerFields(schemas.resolve(inside), deeper);
  const variants = shape.variants
    .map((each) => renderInnerFields(schemas.resolve(each), deeper))
    .filter((each) => each !== "");
  if (variants.length === 0) return "";
  return html`<p>One of these:</p>
<ul class="variants">${variants.map((variant) => html`<li>${variant}</li>`)}</ul>`;
}
