import { html } from "hono/html";
import type { Html } from "./markdown.ts";
import type { Schema, Schemas, Shape } from "./schemas.ts";

const PLACEHOLDER_TEXT = "…";
/** Ends the recursion for schemas that contain themselves. */
const MAX_DEPTH = 8;

const BY_FORMAT: Record<string, string> = {
  "date-time": "2026-11-21T09:30:00.000Z",
  date: "2026-11-21",
  email: "ada@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "019a9f5c-3f5e-7c1a-9b1e-0d6f2c4b8a70",
};

/**
 * The example of the schema, or else one composed from the examples of its parts. `sparse` leaves
 * out optional properties without an example.
 */
export function exampleOf(schema: Schema, schemas: Schemas, sparse = false, depth = 0): unknown {
  const shape = schemas.resolve(schema);
  const [first] = [shape.example, shape.const, shape.enum?.[0], shape.default].filter(
    (each) => each !== undefined,
  );
  if (first !== undefined) return first;
  const exampleOfPart = (part: Schema) => exampleOf(part, schemas, sparse, depth + 1);
  if (depth > MAX_DEPTH) return null;
  const [variant] = shape.variants;
  if (variant) return exampleOfPart(variant);
  if (shape.properties) return exampleObject(shape, schemas, sparse, exampleOfPart);
  if (shape.items) return [exampleOfPart(shape.items)];
  return exampleScalar(shape);
}

function exampleObject(
  { properties = {}, required = [] }: Shape,
  schemas: Schemas,
  sparse: boolean,
  exampleOfPart: (part: Schema) => unknown,
): object {
  const shown = Object.entries(properties).filter(([name, property]) => {
    if (!sparse || required.includes(name)) return true;
    return schemas.resolve(property).example !== undefined;
  });
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOfPart(property)]));
}

function exampleScalar({ types: [type], format = "", minimum = 1 }: Shape): unknown {
  if (type === "integer" || type === "number") return minimum;
  if (type === "boolean") return true;
  if (type === "array") return [];
  if (type === "string") return BY_FORMAT[format] ?? PLACEHOLDER_TEXT;
  return {};
}

/**
 * A code block that scrolls separately, also by keyboard.
 * @param label The accessible name, which must be unique on the page.
 */
export function renderSample(title: string, label: string, code: Html | Html[] | string): Html {
  return html`<figure class="sample"><figcaption>${title}</figcaption>
<pre tabindex="0" role="group" aria-label="${label}"><code>${typeof code === "string" ? withLineBreaks(code) : code}</code></pre></figure>`;
}

export function renderJson(value: unknown): Html[] {
  const tokens = JSON.stringify(value, null, 2).split(/("(?:[^"\\]|\\.)*")/);
  return tokens.map((token, index) => {
    if (!token.startsWith('"')) return html`${token}`;
    const isKey = tokens[index + 1]?.startsWith(":");
    return isKey ? html`<b>${token}</b>` : html`<i>${withLineBreaks(token)}</i>`;
  });
}

/** Long words, which are URLs and paths, break after a slash, but not in an origin: see `withOrigin`. */
function withLineBreaks(code: string): (Html | string)[] {
  return code.split(/(\S{40,})/).flatMap((part, at): (Html | string)[] => {
    if (at % 2 === 0) return [part];
    return part.split(/(?<=[^:/]\/|[?&])/).map((each) => html`${each}<wbr>`);
  });
}
