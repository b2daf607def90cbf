import {
  readNeeds,
  type StackNeeds,
  sortByNeeds,
} from "../../../../packages/runner/src/executors/needs.ts";
import { BadInput, type Issue } from "../../../lib/errors.ts";
import { findNeedsProblems } from "../../projects/environments/index.ts";
import type { Document } from "./patch.ts";

export interface StackOfEnvironment {
  id: string;
  name: string;
  succeededAt: number | null;
}

export interface OrderInput {
  /** As the deployment makes it. */
  configuration: Document;
  /** As the environment has it. */
  before: Document;
  /** All of the environment. */
  stacks: readonly StackOfEnvironment[];
  /** Those to deploy, as far as they do not need each other in this order. */
  ids: readonly string[];
}

/**
 * The IDs of the stacks in the order to deploy them. Throws `BadInput` for needs in a cycle, and for a need of a stack
 * that does not exist, or that is not deployed and has never succeeded.
 */
export function orderStacks({ configuration, before, stacks, ids }: OrderInput): string[] {
  const byId = new Map(stacks.map((stack) => [stack.id, stack]));
  const byName = new Map(stacks.map((stack) => [stack.name, stack]));
  const names = ids.flatMap((id) => byId.get(id)?.name ?? []);
  const existing = new Set(byName.keys());
  const needs = readNeeds(configuration, existing);
  const deployed = new Map(names.map((name) => [name, needs.get(name)]));
  const problems = new Set(findNeedsProblems({ needs, configuration, before, existing }));
  for (const own of deployed.values()) {
    for (const problem of [...(own?.problems ?? []), ...(own?.missing ?? [])])
      problems.add(problem);
  }
  const issues: Issue[] = [...problems].map((message) => ({ path: "configuration", message }));
  const hasSucceeded = (name: string) => byName.get(name)?.succeededAt !== null;
  const unmet = findUnmet(deployed, hasSucceeded);
  issues.push(...unmet.map((message) => ({ path: "stack_ids", message })));
  if (issues.length > 0) throw new BadInput(issues);
  return sortByNeeds(names, needs).sorted.flatMap((name) => byName.get(name)?.id ?? []);
}

function findUnmet(
  deployed: ReadonlyMap<string, StackNeeds | undefined>,
  hasSucceeded: (name: string) => boolean,
): string[] {
  return [...deployed].flatMap(([name, needs]) =>
    [...(needs?.names ?? [])]
      .filter((needed) => !deployed.has(needed) && !hasSucceeded(needed))
      .map((needed) => describeUnmet(name, needed)),
  );
}

/** @param needed A stack that is not deployed, and has never succeeded. */
function describeUnmet(name: string, needed: string): string {
  return (
    `${JSON.stringify(name)} needs ${JSON.stringify(needed)}, which has never succeeded in this environment. ` +
    `Add the ID of ${JSON.stringify(needed)}.`
  );
}
