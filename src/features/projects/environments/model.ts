import { Conflict } from "../../../lib/errors.ts";
import { isObject, jsonBytes } from "../../../lib/json-value.ts";
import { LIMITS } from "../../../lib/limits.ts";

export const NAME_TAKEN = new Conflict(
  "The project already has an environment with this name. Choose another name.",
);

export const DEPLOYMENT_RUNNING = new Conflict(
  "A deployment of the environment is running. Change the configuration after it has ended.",
);

export const IS_DEFAULT = new Conflict(
  "This is the project's default environment. Make another the default first.",
);

export const ENVIRONMENT_IN_USE = new Conflict(
  "The environment has an unfinished deployment. Cancel it first.",
);

export const NOT_ALL = new Conflict(
  "The project has other environments, too. Send the IDs of all of them, in the order to show them.",
);

/** What is not found. */
export const STACK = "stack in the environment";

export interface EnvironmentInput {
  name: string;
  configuration: Configuration;
}

export type Configuration = Record<string, unknown>;

export function isConfiguration(value: unknown): value is Configuration {
  return isObject(value);
}

export function configurationProblem(configuration: Configuration): string | undefined {
  const maximum = LIMITS.configurationBytes.value;
  if (jsonBytes(configuration) <= maximum) return undefined;
  return `Send a configuration of at most ${maximum} bytes of JSON.`;
}
