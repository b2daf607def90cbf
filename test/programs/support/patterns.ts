import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vitest/node";
import { EXECUTOR_SETTINGS } from "../../../packages/runner/src/executors/settings-list.ts";
import { readDocument } from "../../../scripts/lib/document.ts";
import { renderInputSchema } from "../../../scripts/lib/input-schema.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { isNode, type Node, nodesIn } from "./syntax.ts";

export interface Pattern {
  /** The file or the schema that has it. */
  origin: string;
  source: string;
  flags: string;
}

const NOT_SOURCE = /(^|\/)(node_modules|dist|generated)\//;
const FILES = globSync("{src,packages,scripts}/**/*.{ts,tsx,js,mjs,cjs}", { cwd: ROOT })
  .filter((file) => !NOT_SOURCE.test(file))
  .sort();

/** A value for each part of a pattern that is known at run time alone. */
const RUN_TIME_VALUES: Record<string, string> = {
  'ignoresCase ? "i" : ""': "i",
  "LIMITS.outputNameLength.value": "100",
  maximum: "255",
  NPM_SCOPE: "@longshore",
  "NPM_SCOPE.slice(1)": "longshore",
  REPOSITORY: "longshore/longshore",
  RUNNER_IMAGE: "ghcr.io/longshore/longshore-runner",
  name: "ID",
  'names.join("|").replaceAll("*", ".*")': "PATH|LD_.*",
  'operation.replaceAll(/\\{\\w+\\}/g, "[^/]+")': "POST /v1/projects/[^/]+/environments",
  prefix: "lsh",
  quote: "'",
};
const usedValues = new Set<string>();

/** Reads the patterns of one file. */
class SourceFile {
  readonly #file: string;
  readonly #text: string;
  readonly #nodes: Node[];
  readonly #texts = new Map<unknown, Node>();

  constructor(file: string) {
    this.#file = file;
    this.#text = readFileSync(join(ROOT, file), "utf8");
    const lang = file.endsWith("x") ? "tsx" : file.endsWith("ts") ? "ts" : "js";
    this.#nodes = nodesIn(parseAst(this.#text, { lang }, file));
    for (const { type, id, init } of this.#nodes) {
      if (type !== "VariableDeclarator" || !isNode(id) || !isNode(init)) continue;
      if (["Literal", "TemplateLiteral"].includes(init.type)) this.#texts.set(id["name"], init);
    }
  }

  patterns(): Pattern[] {
    return this.#nodes.flatMap((node) => {
      const { regex, callee, arguments: all } = node;
      if (regex) {
        const { pattern, flags } = regex as { pattern: string; flags: string };
        return [{ origin: this.#file, source: pattern, flags }];
      }
      if (!isNode(callee) || callee["name"] !== "RegExp") return [];
      const [source = "", flags = ""] = (all as Node[]).map((each) => this.#evaluate(each));
      return [{ origin: this.#file, source, flags }];
    });
  }

  #evaluate(node: Node): string {
    const { type, start, end, name, value } = node;
    if (type === "Literal") return String(value);
    const constant = this.#texts.get(name);
    if (constant) return this.#evaluate(constant);
    if (type === "BinaryExpression" && node["operator"] === "+")
      return [node["left"], node["right"]].map((each) => this.#evaluate(each as Node)).join("");
    if (type === "TemplateLiteral") {
      const quasis = node["quasis"] as { value: { cooked: string } }[];
      const values = (node["expressions"] as Node[]).map((each) => this.#evaluate(each));
      return quasis.map((each, at) => each.value.cooked + (values[at] ?? "")).join("");
    }
    const text = this.#text.slice(start, end);
    const sample = RUN_TIME_VALUES[text];
    if (sample === undefined)
      throw new Error(`${this.#file}: Add a value of \`${text}\` to RUN_TIME_VALUES.`);
    usedValues.add(text);
    return sample;
  }
}

/** Every literal and every `RegExp` of src, packages and scripts. */
export const SOURCE_PATTERNS = FILES.flatMap((file) => new SourceFile(file).patterns());

export const UNUSED_VALUES = Object.keys(RUN_TIME_VALUES).filter((each) => !usedValues.has(each));

/** Each `pattern` in a JSON Schema, which compiles it with the flag `u`. */
function patternsIn(origin: string, value: unknown): Pattern[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === "pattern" && typeof each === "string"
      ? [{ origin, source: each, flags: "u" }]
      : patternsIn(origin, each),
  );
}

function patternsOfSettings(): Pattern[] {
  return Object.entries(EXECUTOR_SETTINGS).flatMap(([executor, settings]) =>
    Object.entries(settings).flatMap(([name, { form, members }]) =>
      [form, ...Object.values(members?.forms ?? {})].flatMap((each) =>
        each ? [{ origin: `${executor}: ${name}`, ...readPattern(each.pattern) }] : [],
      ),
    ),
  );
}

function readPattern({ source, flags }: RegExp) {
  return { source, flags };
}

/** Every pattern that the input of callers, runners and executors has to match, once. */
export const SCHEMA_PATTERNS = [
  ...new Map(
    [
      ...patternsIn("the OpenAPI document", await readDocument()),
      ...patternsIn("the input schema", JSON.parse(await renderInputSchema())),
      ...patternsOfSettings(),
    ].map((each) => [each.source, each]),
  ).values(),
];
