import {
  findCircle,
  readNeeds,
  type StackNeeds,
} from "../../../../packages/runner/src/executors/needs.ts";
import { getChild } from "../../../lib/json-pointer.ts";
import { equalJson } from "../../../lib/json-value.ts";
import type { Configuration } from "./model.ts";

/**
 * Why the needs of a configuration can't be met. A need of a stack that does not exist matters only in a stack that does,
 * and whose object is not the one `before`: a write that does not touch it must not fail because of it.
 * @param existing The names of the environment's stacks, in NFC. Undefined: the environment is about to be created.
 */
export function findNeedsProblems(
  configuration: Configuration,
  before: Configuration,
  existing: ReadonlySet<string> | undefined,
): string[] {
  const needs = readNeeds(configuration, existing ?? new Set(namesIn(configuration)));
  const problems = [...needs].flatMap(([name, { problems: own, missing }]) => {
    if (isSame(configuration, before, name)) return [];
    return existing?.has(name) ? [...own, ...missing] : own;
  });
  return [...problems, ...circleProblems(needs)];
}

/** False: no stack's object has a list of needs or a reference to outputs, so that no stack has to be read. */
export function mayHaveNeeds(configuration: Configuration): boolean {
  const text = JSON.stringify(getChild(configuration, "stacks") ?? {});
  return text.includes('"needs"') || text.includes("outputs.");
}

/** The names of the existing stacks that others need. */
export function namesNeeded(configuration: Configuration, existing: ReadonlySet<string>): string[] {
  const needs = readNeeds(configuration, existing);
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

export function circleProblems(needs: ReadonlyMap<string, StackNeeds>): string[] {
  const circle = findCircle(needs);
  if (!circle) return [];
  const [first = ""] = circle;
  const path = [...circle, first].map((name) => JSON.stringify(name)).join(" → ");
  return [`Stacks need one another in a circle: ${path}. Remove one of these needs.`];
}

function isSame(configuration: Configuration, before: Configuration, name: string): boolean {
  const [one, other] = [configuration, before].map((each) =>
    getChild(getChild(each, "stacks"), name),
  );
  return one !== undefined && equalJson(one, other, { nodes: 0 });
}

function namesIn(configuration: Configuration): string[] {
  return Object.keys(getChild(configuration, "stacks") ?? {}).map((name) => name.normalize());
}
