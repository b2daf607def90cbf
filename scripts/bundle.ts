/** `npm run bundle`: writes the command line, the runner and the GitHub Action, each into one file; and the server. */

import {
  ACTION_PROGRAM,
  CLI_PROGRAM,
  EXECUTOR_PROGRAMS,
  type Program,
  RUNNER_PROGRAM,
  writeProgram,
} from "./lib/program-bundle.ts";
import { writeServerPackage } from "./lib/server-package.ts";

const [only] = process.argv.slice(2);
for (const [name, program] of Object.entries({
  cli: CLI_PROGRAM,
  runner: RUNNER_PROGRAM,
  action: ACTION_PROGRAM,
})) {
  if (only === undefined || only === name) writeWithExecutors(program);
}

if (only === undefined || only === "server") await writeServerPackage();

/** The programs of executors are in a folder beside the program that starts them. */
function writeWithExecutors(program: Program): void {
  writeProgram(program);
  for (const each of EXECUTOR_PROGRAMS) {
    if (each.folder.startsWith(`${program.folder}/`)) writeProgram(each);
  }
}
