/**
 * Writes what client generators misread in another way that OpenAPI 3.1 allows. They drop a
 * `{ allOf: [{ $ref }, { description }] }`, which becomes `{ $ref, description }` (JSON Schema
 * 2020-12, section 8.2.3.1). They name each value of an `enum`, so a property with one is a `const`.
 */
export function simplifySchemas<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(simplifySchemas) as Value;
  const [reference, annotations, ...others] = "allOf" in value ? [value.allOf].flat() : [];
  if (others.length === 0 && hasOnly(["$ref"], reference) && hasOnly(ANNOTATIONS, annotations)) {
    const { allOf: _, ...own } = value as Value & { allOf: unknown };
    return { ...reference, ...annotations, ...own } as Value;
  }
  const entries = Object.entries(value).map(([key, each]) => {
    return [key, simplifySchemas(key === "properties" ? withConstants(each) : each)];
  });
  return Object.fromEntries(entries) as Value;
}

function withConstants(properties: Record<string, { enum?: unknown[] }>): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { enum: values = [], ...rest }]) => {
      if (values.length === 0) return [name, rest];
      return [
        name,
        values.length === 1 ? { ...rest, const: values[0] } : { ...rest, enum: values },
      ];
    }),
  );
}

const ANNOTATIONS = ["description", "example", "default"];

function hasOnly(keys: readonly string[], value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).every((key) => keys.includes(key));
}
