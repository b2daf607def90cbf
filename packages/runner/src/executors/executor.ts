import type { Program } from "../command.ts";
import type { Settings, SettingValues } from "./setting.ts";

/** The folder with the files of the deployment's commit. */
export interface CheckoutFolder {
  folder: string;
}

/** Deploys stacks whose configuration names it. */
export interface Executor {
  name: string;
  settings: Settings;
  /**
   * Which variables of the deployment its program gets: all, in its environment, as a command of `--exec` does; or
   * those of these names, in which `*` stands for any characters, over its standard input and as no tool's environment.
   */
  variables: "environment" | readonly string[];
  /** What runs for a stack, by the contract of docs/executors.md. */
  createProgram(values: SettingValues, checkout: CheckoutFolder): Program;
}

/** Checks the values of an executor by its own settings. */
export function defineExecutor<const S extends Settings>(executor: {
  name: string;
  settings: S;
  variables: Executor["variables"];
  createProgram(values: SettingValues<S>, checkout: CheckoutFolder): Program;
}): Executor {
  return executor as Executor;
}
