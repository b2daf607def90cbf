import type { Schema, Schemas, Shape } from "./schemas.ts";

/** For texts of which the schema tells nothing more. */
const SOME_TEXT = "…";
const DEEPEST = 8;

const BY_FORMAT: Record<string, string> = {
  "date-time": "2026-11-21T09:30:00.000Z",
  date: "2026-11-21",
  email: "ada@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "019a9f5c-3f5e-7c1a-9b1e-0d6f2c4b8a70",
};

/**
 * A value that fits the schema: its own example, else one made of the examples of its parts. With
 * `sparse`, optional properties that have no example are left out, as a caller would.
 */
export function exampleOf(schema: Schema, schemas: Schemas, sparse = false, depth = 0): unknown {
  const shape = schemas.resolve(schema);
  const [first] = [shape.example, shape.const, shape.enum?.[0], shape.default].filter(
    (each) => each !== undefined,
  );
  if (first !== undefined) return first;
  const within = (part: Schema) => exampleOf(part, schemas, sparse, depth + 1);
  if (depth > DEEPEST) return null;
  const [variant] = shape.variants;
  if (variant) return within(variant);
  if (shape.properties) return exampleObject(shape, schemas, sparse, within);
  if (shape.items) return [within(shape.items)];
  return scalar(shape);
}

function exampleObject(
  { properties = {}, required = [] }: Shape,
  schemas: Schemas,
  sparse: boolean,
  within: (part: Schema) => unknown,
): object {
  const shown = Object.entries(properties).filter(([name, property]) => {
    if (!sparse || required.includes(name)) return true;
    return schemas.resolve(property).example !== undefined;
  });
  return Object.fromEntries(shown.map(([name, property]) => [name, within(property)]));
}

function scalar({ types: [type], format = "", minimum = 1 }: Shape): unknown {
  if (type === "integer" || type === "number") return minimum;
  if (type === "boolean") return true;
  if (type === "array") return [];
  if (type === "string") return BY_FORMAT[format] ?? SOME_TEXT;
  return {};
}
