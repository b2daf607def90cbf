import {
  findCycle,
  readNeeds,
  type StackNeeds,
} from "../../../../packages/runner/src/executors/needs.ts";
import { getChild } from "../../../lib/json-pointer.ts";
import { equalJson } from "../../../lib/json-value.ts";
import type { Configuration } from "./model.ts";

interface NeedsInput {
  needs: ReadonlyMap<string, StackNeeds>;
  configuration: Configuration;
  /** A write that does not touch a stack's object must not fail because of what it needs. */
  before: Configuration;
  /** The names of the environment's stacks, in NFC. Undefined: the environment is about to be created. */
  existing: ReadonlySet<string> | undefined;
}

/** Why the needs of a configuration can't be met. */
export function findNeedsProblems({
  needs,
  configuration,
  before,
  existing,
}: NeedsInput): string[] {
  const [after, earlier] = [configuration, before].map(objectsByName);
  const isSame = (name: string) => equalJson(after?.get(name), earlier?.get(name), { nodes: 0 });
  const problems = [...needs].flatMap(([name, { problems: own, missing }]) => {
    if (isSame(name)) return [];
    return existing?.has(name) ? [...own, ...missing] : own;
  });
  return [...problems, ...cycleProblems(needs)];
}

/** False: no stack can need another one, so that no stack has to be read. */
export function mayHaveNeeds(configuration: string): boolean {
  return configuration.includes('"needs"') || configuration.includes("outputs.");
}

/** The names of the existing stacks that others need. */
export function namesNeeded(needs: ReadonlyMap<string, StackNeeds>): string[] {
  return [...new Set([...needs.values()].flatMap(({ names }) => [...names]))];
}

/** The stacks that need a stack. */
export function namesThatNeed(
  name: string,
  configuration: Configuration,
  existing: ReadonlySet<string>,
): string[] {
  const needs = readNeeds(configuration, existing);
  return [...needs].flatMap(([each, { names }]) => (names.has(name) ? [each] : []));
}

const MAXIMUM_SHOWN = 10;

function cycleProblems(needs: ReadonlyMap<string, StackNeeds>): string[] {
  const cycle = findCycle(needs);
  if (!cycle) return [];
  const [first = ""] = cycle;
  const shown = cycle.slice(0, MAXIMUM_SHOWN).map((name) => JSON.stringify(name));
  const rest = cycle.length > MAXIMUM_SHOWN ? ["…"] : [];
  const path = [...shown, ...rest, JSON.stringify(first)].join(" → ");
  return [`Stacks need each other in a cycle: ${path}. Remove one of these needs.`];
}

/** What the stacks of a configuration need. */
export function needsOf(
  configuration: Configuration,
  existing: ReadonlySet<string> | undefined,
): Map<string, StackNeeds> {
  return readNeeds(configuration, existing ?? new Set(namesIn(configuration)));
}

/** What a configuration has of each stack, by its name in NFC: a key may be written otherwise. */
function objectsByName(configuration: Configuration): ReadonlyMap<string, unknown> {
  const stacks = Object.entries(getChild(configuration, "stacks") ?? {});
  return Map.groupBy(stacks, ([name]) => name.normalize());
}

function namesIn(configuration: Configuration): string[] {
  return Object.keys(getChild(configuration, "stacks") ?? {}).map((name) => name.normalize());
}
