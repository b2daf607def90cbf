import { isObject } from "./json-value.ts";
import { LIMITS } from "./limits.ts";
import { CONTROL_CHARACTERS, LONE_SURROGATES } from "./text-patterns.ts";

export interface DocumentProblem {
  path: string[];
  message: string;
}

interface JsonNode {
  value: unknown;
  key: string;
  parent?: JsonNode;
  /** 1 for the document, 2 for its members or elements. */
  level: number;
}

const MAXIMUM_DEPTH = LIMITS.documentDepth.value;
const CONTROL = /\p{Cc}/u;
const CONTROL_IN_LINES = /[^\P{Cc}\t\n\r]/u;

/**
 * The first error in a caller's JSON document; undefined for a valid document. Errors are: nesting
 * that is too deep, lone surrogates, and control characters (except tabs and line ends in values). Does not recurse.
 */
export function documentProblem(document: unknown): DocumentProblem | undefined {
  const pending: JsonNode[] = [{ value: document, key: "", level: 1 }];
  for (const node of pending) {
    const message = problemOf(node);
    if (message) return { path: pathOf(node), message };
    if (!isContainer(node.value)) continue;
    for (const [key, value] of Object.entries(node.value)) {
      if (!isContainer(value) && typeof value !== "string") continue;
      pending.push({ value, key, parent: node, level: node.level + 1 });
    }
  }
  return undefined;
}

/** The nesting depth of a value: 0 for a scalar, 1 for `{}` and `[]`. Does not recurse. */
export function depthOf(value: unknown): number {
  let depth = 0;
  let level = [value].filter(isContainer);
  for (; level.length > 0; depth += 1) {
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return depth;
}

/** The text need not be valid JSON. */
export function nestsDeeper(json: string, maximum: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (isInString && character === "\\") at += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > maximum) return true;
  }
  return false;
}

function problemOf({ value, level }: JsonNode): string | undefined {
  if (typeof value === "string") {
    if (!value.isWellFormed()) return LONE_SURROGATES;
    return CONTROL_IN_LINES.test(value) ? CONTROL_CHARACTERS : undefined;
  }
  if (level > MAXIMUM_DEPTH) return `Nest objects and arrays at most ${MAXIMUM_DEPTH} levels deep.`;
  const keys = isObject(value) ? Object.keys(value) : [];
  if (!keys.every((key) => key.isWellFormed())) return "Send keys without lone surrogates.";
  if (keys.some((key) => CONTROL.test(key))) return "Send keys without control characters.";
  return undefined;
}

function pathOf(node: JsonNode): string[] {
  const keys: string[] = [];
  for (let at = node; at.parent; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
