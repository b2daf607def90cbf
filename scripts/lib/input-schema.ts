import { join } from "node:path";
import { readDocument } from "./document.ts";
import { ROOT } from "./wrangler.ts";

export const INPUT_SCHEMA_FILES = [
  "docs/input.schema.json",
  "packages/runner/input.schema.json",
].map((file) => join(ROOT, file));

type Schema = Record<string, unknown>;

const COMPONENTS = "#/components/schemas/";
/** Their members have names, and schemas as values. */
const NAMED = ["properties", "$defs"];

/** The JSON Schema of `input.json`: what a start returns, and which of its stacks is to be deployed. */
export async function renderInputSchema(): Promise<string> {
  const components = ((await readDocument()).components?.schemas ?? {}) as Record<string, Schema>;
  const { properties, required, description } = components["StartInput"] ?? {};
  const stack = {
    $ref: `${COMPONENTS}StackOfInput`,
    description: "The stack that this run of the command deploys.",
  };
  const input = {
    type: "object",
    properties: { ...(properties as Schema), stack },
    required: [...(required as string[]), "stack"],
  };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "input.json, which a runner writes for the command of each stack",
    description,
    ...toJsonSchema(input),
    $defs: Object.fromEntries(
      findReferences(input, components)
        .toSorted()
        .map((name) => [name, toJsonSchema(components[name] ?? {})]),
    ),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Without what only OpenAPI has. */
function toJsonSchema(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => {
      if (keyword === "discriminator") return [];
      if (keyword === "example") return [["examples", [value]]];
      if (keyword === "$ref") return [[keyword, String(value).replace(COMPONENTS, "#/$defs/")]];
      if (NAMED.includes(keyword)) return [[keyword, mapValues(value as Schema)]];
      return [[keyword, toSubschema(value)]];
    }),
  );
}

function mapValues(schemas: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, toJsonSchema(schema as Schema)]),
  );
}

function toSubschema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSubschema);
  return typeof value === "object" && value !== null ? toJsonSchema(value as Schema) : value;
}

function findReferences(schema: unknown, components: Record<string, Schema>): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { $ref } = value as { $ref?: unknown };
    const name = typeof $ref === "string" ? $ref.replace(COMPONENTS, "") : undefined;
    if (name !== undefined && !found.has(name)) {
      found.add(name);
      visit(components[name]);
    }
    for (const each of Object.values(value)) visit(each);
  };
  visit(schema);
  return [...found];
}
