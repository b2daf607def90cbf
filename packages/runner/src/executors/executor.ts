import type { Program } from "../command.ts";

/** `file` is the path of a file in the checkout. Each text may have references (interpolation.ts). */
export interface Setting {
  type: "file" | "text" | "texts";
  isRequired?: boolean;
}

export type Settings = Readonly<Record<string, Setting>>;

/** What an executor gets: references are replaced, and a `file` is its real path in the checkout. */
export type SettingValues<S extends Settings = Settings> = {
  readonly [Name in keyof S]?: S[Name]["type"] extends "texts" ? readonly string[] : string;
};

/** The folder with the files of the deployment's commit. */
export interface CheckoutFolder {
  folder: string;
}

/** Deploys stacks whose configuration names it. */
export interface Executor {
  name: string;
  settings: Settings;
  /** What runs for a stack, by the contract of docs/executors.md. */
  createProgram(values: SettingValues, checkout: CheckoutFolder): Program;
}

/** Checks the values of an executor by its own settings. */
export function defineExecutor<const S extends Settings>(executor: {
  name: string;
  settings: S;
  createProgram(values: SettingValues<S>, checkout: CheckoutFolder): Program;
}): Executor {
  return executor as Executor;
}
