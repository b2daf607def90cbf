export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string | string[];
  format?: string;
  description?: string;
  example?: unknown;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

/** A schema with `$ref` and `allOf` resolved at the top level. */
export interface Shape extends Omit<Schema, "$ref" | "allOf" | "anyOf" | "oneOf" | "type"> {
  /** The name of the component, if the schema adds no properties to it. */
  name?: string;
  /** Without "null", which sets `nullable`. */
  types: string[];
  nullable: boolean;
  variants: Schema[];
}

const REFERENCE = "#/components/schemas/";
/** Reading fewer properties takes less time than following a link. */
const MIN_LINKED_PROPERTIES = 5;

/** A schema that several places use gets its own section. */
export class Schemas {
  readonly #named: Readonly<Record<string, Schema>>;
  readonly #uses = new Map<string, number>();

  constructor(named: Readonly<Record<string, Schema>>, text: string) {
    this.#named = named;
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
    }
  }

  linked(): string[] {
    return Object.keys(this.#named).filter((name) => this.isLinked(name));
  }

  isLinked(name: string | undefined): name is string {
    if (name === undefined || (this.#uses.get(name) ?? 0) < 2) return false;
    const { properties } = this.named(name);
    return properties === undefined || Object.keys(properties).length >= MIN_LINKED_PROPERTIES;
  }

  named(name: string): Shape {
    return this.resolve({ $ref: REFERENCE + name });
  }

  resolve(schema: Schema): Shape {
    const { $ref, allOf = [], anyOf, oneOf, type = [], ...own } = schema;
    const types = [type].flat();
    const alternatives = (oneOf ?? anyOf ?? []).filter((each) => each.type !== "null");
    const shape: Shape = {
      ...own,
      types: types.filter((each) => each !== "null"),
      nullable: types.includes("null") || alternatives.length < (oneOf ?? anyOf ?? []).length,
      variants: alternatives.length > 1 ? alternatives : [],
    };
    const parts = allOf.map((part) => this.resolve(part));
    if (alternatives.length === 1) parts.push(...alternatives.map((each) => this.resolve(each)));
    if ($ref) parts.push(this.#resolveReference($ref.slice(REFERENCE.length)));
    return parts.length === 0 ? shape : [...parts, shape].reduce(merge);
  }

  #resolveReference(name: string): Shape {
    return { ...this.resolve(this.#named[name] ?? {}), name };
  }
}

function merge(base: Shape, over: Shape): Shape {
  const { name, example, ...rest } = base;
  const merged: Shape = {
    ...rest,
    ...over,
    types: over.types.length > 0 ? over.types : base.types,
    nullable: base.nullable || over.nullable,
    variants: [...base.variants, ...over.variants],
  };
  if (!over.properties) {
    if (name !== undefined && over.name === undefined) merged.name = name;
    // Only here: the example of `base` lacks properties that `over` adds.
    if (example !== undefined && over.example === undefined) merged.example = example;
    return merged;
  }
  merged.properties = { ...base.properties, ...over.properties };
  merged.required = [...(base.required ?? []), ...(over.required ?? [])];
  return merged;
}
