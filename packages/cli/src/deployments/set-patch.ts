import { applyPatch, type Operation, PatchError } from "../../../../src/lib/json-patch.ts";
import { escapeToken, getChild } from "../../../../src/lib/json-pointer.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
import { CliError } from "../errors.ts";

interface Assignment {
  /** As the user has written it. */
  path: string;
  keys: string[];
  value: unknown;
}

/**
 * The operations of `patch`, then one for each `path=value`, which applies to a configuration that the
 * operations before it have changed.
 *
 * @throws CliError for an assignment that is not one, or that leads through a scalar.
 */
export function buildPatch(
  configuration: object,
  patch: readonly Operation[],
  assignments: readonly string[] = [],
): Operation[] {
  if (assignments.length === 0) return [...patch];
  let document: unknown = apply(configuration, patch);
  const added = assignments.map((text) => {
    const operation = toOperation(document, parseAssignment(text));
    document = apply(document, [operation]);
    return operation;
  });
  return [...patch, ...added];
}

/** `a\.b.c=1` has the keys `a.b` and `c`. The value is JSON, or else text. */
export function parseAssignment(text: string): Assignment {
  const equals = text.indexOf("=");
  const path = text.slice(0, equals);
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  if (equals < 1 || keys.includes("")) {
    throw new CliError(
      `Write --set as path=value, such as --set web.replicas=3; "${text}" is not.`,
    );
  }
  return { path, keys, value: parseValue(text.slice(equals + 1)) };
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Creates the parents that are missing. */
function toOperation(document: unknown, { path, keys, value }: Assignment): Operation {
  let parent = document;
  for (const [at, key] of keys.entries()) {
    const pointer = toPointer(keys.slice(0, at + 1));
    const child = getChild(parent, key);
    const isLast = at === keys.length - 1;
    if (child !== undefined && isLast) return { op: "replace", path: pointer, value };
    if (child === undefined) {
      requirePlace(parent, { path, keys, at });
      return { op: "add", path: pointer, value: nest(keys.slice(at + 1), value) };
    }
    parent = child;
  }
  throw new TypeError("An assignment has a key.");
}

/** @throws CliError unless the parent can have the new member or element. */
function requirePlace(
  parent: unknown,
  { path, keys, at }: { path: string; keys: readonly string[]; at: number },
): void {
  const before = keys.slice(0, at).join(".");
  if (Array.isArray(parent)) {
    const isNext = keys[at] === "-" || keys[at] === String(parent.length);
    if (isNext) return;
    throw new CliError(
      `--set ${path}: ${before} is a list of ${parent.length}. Name an element by its index, or a new one by -.`,
    );
  }
  if (isObject(parent)) return;
  throw new CliError(
    `--set ${path}: ${before} is ${JSON.stringify(parent)}, which has no members. Set ${before} itself.`,
  );
}

function nest(keys: readonly string[], value: unknown): unknown {
  // A computed key makes an own member, `__proto__` too.
  return keys.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
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
