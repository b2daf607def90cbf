import { applyPatch, type Operation, PatchError } from "../../../../src/lib/json-patch.ts";
import { escapeToken, getChild } from "../../../../src/lib/json-pointer.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
import { CliError } from "../errors.ts";
import { requireExactNumbers } from "../exact-json.ts";

/** How an option reads the value of `path=value`. */
const VALUE_READERS = {
  "--set": readValue,
  "--set-string": (text: string) => text,
  "--set-json": readJson,
} as const;

type SetOption = keyof typeof VALUE_READERS;

export interface Assignment {
  option: SetOption;
  /** As the user has written it. */
  path: string;
  keys: string[];
  value: unknown;
}

/**
 * The operations of `patch`, then one for each assignment, which applies to a configuration that the operations before
 * it have changed. A text is one of `--set`.
 *
 * @throws CliError for an assignment that is not one, or that leads through a scalar.
 */
export function buildPatch(
  configuration: object,
  patch: readonly Operation[],
  assignments: readonly (string | Assignment)[] = [],
): Operation[] {
  if (assignments.length === 0) return [...patch];
  let document: unknown = apply(configuration, patch);
  const added = assignments.map((each) => {
    const assignment = typeof each === "string" ? parseAssignment(each) : each;
    const operation = toOperation(document, assignment);
    document = apply(document, [operation]);
    return operation;
  });
  return [...patch, ...added];
}

/** `a\.b.c=1` has the keys `a.b` and `c`. */
export function parseAssignment(text: string, option: SetOption = "--set"): Assignment {
  const equals = text.indexOf("=");
  const path = text.slice(0, equals);
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  if (equals < 1 || keys.includes("")) {
    throw new CliError(
      `Write ${option} as path=value, such as ${option} web.replicas=3; "${text}" is not.`,
    );
  }
  const value = VALUE_READERS[option](text.slice(equals + 1), `${option} ${path}`);
  return { option, path, keys, value };
}

/** JSON, or else text. A number that JSON would write in another way is text, such as a tag `1.10` or a hash `7e10432`. */
function readValue(text: string, owner: string): unknown {
  const value = parseJson(text);
  if (typeof value === "number") return JSON.stringify(value) === text ? value : text;
  if (value === undefined) return text;
  requireExactNumbers(text, owner);
  return value;
}

function readJson(text: string, owner: string): unknown {
  const value = parseJson(text);
  if (value === undefined) {
    throw new CliError(
      `${owner} needs a JSON value, such as 3, true or '["a"]'; "${text}" is not.`,
    );
  }
  requireExactNumbers(text, owner);
  return value;
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Creates the parents that are missing: a list for the key `-`. */
function toOperation(document: unknown, assignment: Assignment): Operation {
  const { keys, value } = assignment;
  let parent = document;
  for (const [at, key] of keys.entries()) {
    const pointer = toPointer(keys.slice(0, at + 1));
    const child = getChild(parent, key);
    const isLast = at === keys.length - 1;
    if (child !== undefined && isLast) return { op: "replace", path: pointer, value };
    if (child === undefined) {
      requirePlace(parent, assignment, at);
      return { op: "add", path: pointer, value: nest(keys.slice(at + 1), value) };
    }
    parent = child;
  }
  throw new TypeError("An assignment has a key.");
}

/** @throws CliError unless the parent can have the new member or element. */
function requirePlace(parent: unknown, { option, path, keys }: Assignment, at: number): void {
  const before = keys.slice(0, at).join(".");
  if (Array.isArray(parent)) {
    const isNext = keys[at] === "-" || keys[at] === String(parent.length);
    if (isNext) return;
    throw new CliError(
      `${option} ${path}: ${before} is a list of ${parent.length}. Name an element by its index, or a new one by -.`,
    );
  }
  if (isObject(parent)) return;
  throw new CliError(
    `${option} ${path}: ${before} is ${JSON.stringify(parent)}, which has no members. Set ${before} itself.`,
  );
}

function nest(keys: readonly string[], value: unknown): unknown {
  // A computed key makes an own member, `__proto__` too.
  return keys.reduceRight(
    (inner: unknown, key) => (key === "-" ? [inner] : { [key]: inner }),
    value,
  );
}

function toPointer(keys: readonly string[]): string {
  return keys.map((key) => `/${escapeToken(key)}`).join("");
}

function apply(document: unknown, patch: readonly Operation[]): unknown {
  try {
    const unbounded = { copiedBytes: Infinity, oldValueBytes: Infinity };
    return applyPatch(document, patch, unbounded).document;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new CliError(`The patch does not apply: operation ${error.index}: ${error.message}`);
  }
}
