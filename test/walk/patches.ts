import { JSONPatch, JSONPatchError, JSONPointer, type JSONValue, jsonpointer } from "json-p3";
import type { Random } from "../support/random.ts";

export type Document = Record<string, unknown>;

export interface Operation {
  op: "add" | "remove" | "repath" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
  old_value?: unknown;
}

/** Few paths, so that patches conflict often. Only scalars are moved and copied. */
const LEAVES = ["/a", "/b", "/c", "/nest/a", "/list/0"];
const PATHS = [...LEAVES, "/nest/b", "/list/-"];
const CONTAINERS = ["/nest", "/list"];

const clone = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

/** Equal texts for objects that differ only in the order of their keys. */
export const canonical = (document: unknown): string =>
  JSON.stringify(document, (_, each) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted())
      : each,
  );

/** Applies a patch with json-p3; undefined if the patch does not apply. */
export function applyByReference(
  document: Document,
  patch: readonly Operation[],
): Document | undefined {
  let result = clone(document);
  for (const { old_value: _, ...operation } of patch) {
    const next = applyOne(result, operation);
    if (next === undefined) return undefined;
    result = next;
  }
  return result;
}

/** Clones before and after, because the `copy` of json-p3 shares references. */
function applyOne(document: Document, operation: Operation): Document | undefined {
  try {
    const patch = new JSONPatch([clone(operation)] as ConstructorParameters<typeof JSONPatch>[0]);
    return clone(patch.apply(clone(document) as JSONValue)) as Document;
  } catch (error) {
    const doesNotApply =
      error instanceof JSONPatchError || error instanceof jsonpointer.JSONPointerError;
    if (doesNotApply) return undefined;
    throw error;
  }
}

/** The names of stacks of an environment. */
export interface StackState {
  deployed: readonly string[];
  succeeded: readonly string[];
}

export const ALL_STACKS: StackState = { deployed: ["a", "b"], succeeded: [] };

/**
 * The configuration that a deployment with this patch results in; undefined if it does not apply, its stacks need each
 * other in a cycle, or one needs another that is not deployed and has never succeeded.
 */
export function resultOf(
  document: Document,
  patch: readonly Operation[],
  state: StackState,
): Document | undefined {
  const result = applyByReference(document, patch);
  return result && !hasCycle(result) && hasMetNeeds(result, state) ? result : undefined;
}

/** The fixture has two stacks. */
function hasCycle(document: Document): boolean {
  return needsOf(document, "a").includes("b") && needsOf(document, "b").includes("a");
}

function hasMetNeeds(document: Document, { deployed, succeeded }: StackState): boolean {
  const met = [...deployed, ...succeeded];
  return deployed.every((name) => needsOf(document, name).every((each) => met.includes(each)));
}

function needsOf(document: Document, name: string): string[] {
  const stacks = document["stacks"] as Record<string, { needs: string[] }> | undefined;
  return stacks?.[name]?.needs ?? [];
}

/** Whether each `old_value` is the value at its path before the operation. */
export function hasCorrectOldValues(document: Document, patch: readonly Operation[]): boolean {
  return patch.every((operation, index) => {
    const before = applyByReference(document, patch.slice(0, index));
    const was = before && valueAt(before, operation.path);
    const expected = operation.op === "test" ? undefined : was;
    return canonical({ value: operation.old_value }) === canonical({ value: expected });
  });
}

function valueAt(document: Document, path: string): unknown {
  try {
    return new JSONPointer(path).resolve(document as JSONValue);
  } catch {
    return undefined;
  }
}

/** A patch of up to three operations, most of which apply to the document. */
export function randomPatch(random: Random, document: Document): Operation[] {
  const patch: Operation[] = [];
  let current = document;
  const length = random.chance(0.1) ? 0 : 1 + random.below(3);
  for (let at = 0; at < length; at += 1) {
    let operation = randomOperation(random, current);
    for (let tries = 0; tries < 4 && !applyOne(current, operation); tries += 1) {
      operation = randomOperation(random, current);
    }
    patch.push(operation);
    current = applyOne(current, operation) ?? current;
  }
  return patch;
}

/** Both of them together are a cycle. */
const NEEDS = { a: { needs: ["b"] }, b: { needs: ["a"] } };

function randomNeeds(random: Random): Operation {
  const name = random.pick(["a", "b"] as const) ?? "a";
  const operations: Operation[] = [
    { op: "add", path: "/stacks", value: { [name]: NEEDS[name] } },
    { op: "add", path: `/stacks/${name}`, value: NEEDS[name] },
    { op: "add", path: "/stacks", value: {} },
  ];
  return random.pick(operations) ?? { op: "add", path: "/stacks", value: {} };
}

function randomOperation(random: Random, document: Document): Operation {
  const leaf = random.pick(LEAVES) ?? "/a";
  const path = random.pick(PATHS) ?? "/a";
  const container = random.pick(CONTAINERS) ?? "/nest";
  const value = random.chance(0.5) ? random.below(3) : random.below(1_000_000);
  const filled = container === "/nest" ? { a: value } : [value];
  if (random.chance(0.15)) return randomNeeds(random);
  const operations: Operation[] = [
    { op: "add", path: path, value },
    { op: "add", path: container, value: filled },
    { op: "repath", path: leaf, value },
    { op: "remove", path: random.chance(0.2) ? container : leaf },
    { op: "move", from: random.pick(LEAVES) ?? "/a", path: path },
    { op: "copy", from: random.pick(LEAVES) ?? "/b", path: path },
    { op: "test", path: leaf, value: valueAt(document, leaf) ?? value },
    { op: "test", path: leaf, value: valueAt(document, leaf) ?? value },
  ];
  return random.pick(operations) ?? { op: "add", path: path, value };
}
