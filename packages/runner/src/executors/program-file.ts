import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Program } from "../command.ts";
import { defineExecutor, type Executor } from "./executor.ts";
import type { Settings } from "./setting.ts";

/** Beside the bundle of the runner or the command line; the sources use the files of the runner's bundle. */
const FOLDERS = ["./executors/", "../../dist/executors/"];

interface ProgramOptions extends Pick<Program, "endsItsTools"> {
  /** The names of the deployment's variables that the program reads from its standard input. Default: none. */
  variables?: readonly string[];
}

/** An executor whose program is `packages/executors/<name>/src/main.ts`. It runs in the checkout. */
export function defineProgram(
  name: string,
  settings: Settings,
  { variables = [], ...options }: ProgramOptions = {},
): Executor {
  return defineExecutor({
    name,
    settings,
    variables,
    createProgram: (_, { folder }) => ({
      file: process.execPath,
      args: [findProgramFile(name)],
      folder,
      ...options,
    }),
  });
}

function findProgramFile(name: string): string {
  const files = FOLDERS.map((folder) =>
    fileURLToPath(new URL(`${folder}${name}.js`, import.meta.url).href),
  );
  const file = files.find(existsSync);
  if (file === undefined) throw new Error(`The program of the executor ${name} is not installed.`);
  return file;
}
