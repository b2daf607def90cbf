import { Conflict } from "../../../lib/errors.ts";

export const STACK_IN_USE = new Conflict(
  "An unfinished deployment includes the stack. Cancel it first.",
);

/** What is not found. */
export const COMPONENT = "component in the environment";

export const NAME_TAKEN = new Conflict(
  "The environment already has a stack with this name. Choose another name.",
);

/** As `stacks.outputs` has them. */
export const NO_OUTPUTS = "{}";
