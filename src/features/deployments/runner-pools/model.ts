import { Conflict } from "../../../lib/errors.ts";

export const NAME_TAKEN = new Conflict(
  "The organization already has a runner pool with this name. Choose another name.",
);

export const POOL_IN_USE = new Conflict(
  "A runner of the pool carries out a deployment. Cancel it first.",
);

/** What is not found. */
export const ENVIRONMENT = "environment in the organization";

/** A change of a pool. Undefined: as it is. */
export type RunnerPoolChange = {
  [Name in keyof RunnerPoolInput]: RunnerPoolInput[Name] | undefined;
};

export interface RunnerPoolInput {
  name: string;
  environmentIds: readonly string[];
  maxRunSeconds: number;
}
