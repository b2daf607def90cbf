import { LIMITS } from "../../src/lib/limits.ts";
import { LINE, PARAGRAPHS, TEXT } from "../../src/lib/text-patterns.ts";
import { resolve, type Schema } from "./document.ts";

/** In each text of a body, so that no two requests send the same. */
const MARK = "mmmmmmmm";
const FREE = [undefined, LINE.source, TEXT.source, PARAGRAPHS.source];
const SLUG = /^\^\[a-z0-9-\]/;
const IDENTIFIER = /^\^\[A-Za-z_\]/;
const OUTPUT_NAME = /^\^\[A-Za-z0-9\._-\]/;
const POINTER = /^\^\(\\\//;
/** The limits include what the service adds. */
const SHARE = 0.9;

/** A value in place of the largest one, by the name of its field. Undefined: the field is left out. */
export type Replacements = Readonly<Record<string, unknown>>;

/** The largest valid body, as JSON: all fields, with the longest texts and as many items as fit. */
export function largestBody(schema: Schema, replacements: Replacements): string {
  let textLength = LIMITS.variableValueBytes.value;
  for (;;) {
    const body = JSON.stringify(new Generator(replacements, textLength).value(schema));
    if (body.length <= LIMITS.bodyBytes.value * SHARE) return body;
    textLength = Math.floor(textLength * SHARE);
  }
}

/** A document of many small values. */
export function largestDocument(bytes = LIMITS.configurationBytes.value * SHARE): object {
  const value = `${MARK}${"v".repeat(200)}`;
  const count = Math.floor(bytes / (value.length + 10));
  return { settings: Array.from({ length: count }, (_, at) => `${at} ${value}`) };
}

/** The same text with other names and values. */
export function unique(text: string): string {
  return text.replaceAll(MARK, crypto.randomUUID().slice(0, MARK.length));
}

class Generator {
  readonly #replacements: Replacements;
  /** In place of the limits of texts that are larger. */
  readonly #textLength: number;
  #texts = 0;

  constructor(replacements: Replacements, textLength: number) {
    this.#replacements = replacements;
    this.#textLength = textLength;
  }

  value(node: Schema, name = ""): unknown {
    if (name in this.#replacements) return this.#replacements[name];
    const schema = resolve(node);
    const { items, maxItems = 1, properties, anyOf, oneOf, allOf = [] } = schema;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    const [branch] = [anyOf, oneOf].flatMap((each) => each ?? []);
    if (branch) return this.value(branch, name);
    if (items) return Array.from({ length: maxItems }, () => this.value(items, name));
    const parts = [{ properties }, ...allOf.map((each) => resolve(each))];
    const fields = parts.flatMap((each) => Object.entries(each.properties ?? {}));
    if (fields.length > 0) {
      return Object.fromEntries(fields.map(([field, each]) => [field, this.value(each, field)]));
    }
    return [schema.type].flat().includes("string")
      ? this.#text(schema)
      : (schema.example ?? schema.maximum);
  }

  #text({ pattern, format, maxLength = this.#textLength, example }: Schema): unknown {
    this.#texts += 1;
    const start = `${MARK}-${this.#texts}`;
    if (pattern !== undefined && (SLUG.test(pattern) || OUTPUT_NAME.test(pattern))) return start;
    const length = Math.min(maxLength, this.#textLength);
    if (pattern !== undefined && IDENTIFIER.test(pattern)) {
      return `V_${start.replace("-", "_")}_`.padEnd(Math.min(length, 60), "V");
    }
    if (pattern !== undefined && POINTER.test(pattern)) return `/${start}`.padEnd(length, "v");
    return format === undefined && FREE.includes(pattern) ? start.padEnd(length, "v") : example;
  }
}
