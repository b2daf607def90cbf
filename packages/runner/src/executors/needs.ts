import { getChild } from "../../../../src/lib/json-pointer.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
import { quote } from "./quote.ts";
import { OUTPUTS_PREFIX, PART, splitOutput } from "./references.ts";
import { at } from "./settings.ts";

const STACKS = "/stacks";

/** What a stack's object in a configuration says of other stacks. */
export interface StackNeeds {
  /** The names of the stacks that it needs, in NFC. */
  names: ReadonlySet<string>;
  /** Why its list of needs can't be used. */
  problems: readonly string[];
  /** Its needs of stacks that do not exist, as sentences. */
  missing: readonly string[];
}

const NO_NEEDS: StackNeeds = { names: new Set(), problems: [], missing: [] };

/**
 * The needs of each stack: what its `needs` lists, and the stacks whose outputs it refers to.
 * @param existing The names of the environment's stacks, in NFC.
 */
export function readNeeds(
  configuration: unknown,
  existing: ReadonlySet<string>,
): Map<string, StackNeeds> {
  const stacks = getChild(configuration, "stacks");
  const needs = new Map<string, StackNeeds>();
  for (const [name, values] of Object.entries(isObject(stacks) ? stacks : {})) {
    if (!isObject(values)) continue;
    const { names, problems, missing } = needs.get(name.normalize()) ?? NO_NEEDS;
    const found = findNeeds(at(STACKS, name), values, existing);
    needs.set(name.normalize(), {
      names: new Set([...names, ...found.names]),
      problems: [...problems, ...found.problems],
      missing: [...missing, ...found.missing],
    });
  }
  return needs;
}

function findNeeds(
  pointer: string,
  values: Record<string, unknown>,
  existing: ReadonlySet<string>,
): StackNeeds {
  const listed = getChild(values, "needs") ?? [];
  if (!isListOfNames(listed)) {
    const problem = `${at(pointer, "needs")} must be a list of stack names.`;
    return { ...NO_NEEDS, problems: [problem] };
  }
  const names = new Set<string>();
  const missing: string[] = [];
  for (const name of listed) {
    if (existing.has(name.normalize())) names.add(name.normalize());
    else missing.push(describeMissing(at(pointer, "needs"), quote(name)));
  }
  for (const { pointer: where, written, path } of findOutputReferences(pointer, values)) {
    const stack = splitOutput(path, existing)?.stack;
    if (stack === undefined) missing.push(describeMissing(where, quote(written)));
    else names.add(stack);
  }
  return { names, problems: [], missing };
}

function isListOfNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function describeMissing(pointer: string, what: string): string {
  return `${pointer} names ${what}, but the environment has no such stack. Create the stack first.`;
}

interface OutputReference {
  pointer: string;
  written: string;
  /** Names the stack and the output. */
  path: string;
}

function findOutputReferences(pointer: string, values: unknown): OutputReference[] {
  return listTexts(pointer, values).flatMap(({ pointer: where, text }) =>
    [...text.matchAll(PART)].flatMap(([written, name, end]) =>
      name !== undefined && end !== undefined && name.startsWith(OUTPUTS_PREFIX)
        ? [{ pointer: where, written, path: name.slice(OUTPUTS_PREFIX.length) }]
        : [],
    ),
  );
}

export interface TextOfSettings {
  pointer: string;
  text: string;
}

/** All strings within a value that may have references. */
export function listTexts(pointer: string, value: unknown): TextOfSettings[] {
  if (typeof value === "string") return value.includes("${") ? [{ pointer, text: value }] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(at(pointer, name), each));
}

/** Stacks of which each needs the next, and the last needs the first. Undefined: there are none. */
export function findCycle(needs: ReadonlyMap<string, StackNeeds>): string[] | undefined {
  const { left } = sortByNeeds([...needs.keys()], needs);
  const among = new Set(left);
  const path = new Set<string>();
  // Whatever is left needs another one that is left, so that the path comes back to itself.
  let [name] = left;
  while (name !== undefined && !path.has(name)) {
    path.add(name);
    name = [...(needs.get(name)?.names ?? [])].find((each) => among.has(each));
  }
  const found = [...path];
  return name === undefined ? undefined : found.slice(found.indexOf(name));
}

/**
 * Names of stacks in an order in which each comes after those that it needs; otherwise they keep the order given.
 * `left` has those in a cycle, and those that need one of them. Source: Kahn's algorithm, with the earliest of those
 * that are ready. A configuration can name tens of thousands of stacks, so nothing here is searched for each of them.
 */
export function sortByNeeds(
  names: readonly string[],
  needs: ReadonlyMap<string, StackNeeds>,
): { sorted: string[]; left: string[] } {
  const positions = new Map(names.map((name, at) => [name, at]));
  const open = new Map<string, number>();
  const needing = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const name of names) {
    const needed = [...(needs.get(name)?.names ?? [])].filter((each) => positions.has(each));
    open.set(name, needed.length);
    for (const each of needed) needing.get(each)?.push(name);
  }
  // The last one is next.
  const ready = names.filter((name) => open.get(name) === 0).toReversed();
  const sorted: string[] = [];
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    sorted.push(name);
    for (const each of needing.get(name) ?? []) {
      const count = (open.get(each) ?? 0) - 1;
      open.set(each, count);
      if (count === 0) insert(ready, each, positions);
    }
  }
  return { sorted, left: names.filter((name) => open.get(name) !== 0) };
}

/** Keeps the earliest position last. */
function insert(ready: string[], name: string, positions: ReadonlyMap<string, number>): void {
  const at = (each = "") => positions.get(each) ?? 0;
  let [low, high] = [0, ready.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(ready[middle]) > at(name)) low = middle + 1;
    else high = middle;
  }
  ready.splice(low, 0, name);
}
