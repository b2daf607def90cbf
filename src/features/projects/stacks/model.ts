import { Conflict } from "../../../lib/errors.ts";

export const STACK_IN_USE = new Conflict(
  "An unfinished deployment includes the stack. Cancel it first.",
);

/** What is not found. */
export const COMPONENT = "component in the environment";
export const STACK = "stack in the environment";

export const NOT_ALL = new Conflict(
  "Send the IDs of all the environment's stacks, in the order to deploy them.",
);

export const ENVIRONMENT_CHANGED = new Conflict(
  "The environment's configuration has just changed. Send the request again.",
);

const NAMED = 5;

/** @param names The stacks that need it. */
export function neededBy(names: readonly string[]): Conflict {
  const shown = names.slice(0, NAMED).map((name) => JSON.stringify(name));
  const others = names.length - shown.length;
  const list = [...shown, ...(others > 0 ? [`${others} more`] : [])].join(", ");
  return new Conflict(
    `Other stacks need this stack: ${list}. Change what they need in the environment's configuration first.`,
  );
}

export const NAME_TAKEN = new Conflict(
  "The environment already has a stack with this name. Choose another name.",
);

/** As `stacks.outputs` has them. */
export const NO_OUTPUTS = "{}";
