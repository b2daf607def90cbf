/** `npm run bundle`: writes the command line, the runner and the GitHub Action, each into one file. */
import { ACTION_PROGRAM, CLI_PROGRAM, RUNNER_PROGRAM, writeProgram } from "./lib/program-bundle.ts";

const [only] = process.argv.slice(2);
for (const [name, program] of Object.entries({
  cli: CLI_PROGRAM,
  runner: RUNNER_PROGRAM,
  action: ACTION_PROGRAM,
})) {
  if (only === undefined || only === name) writeProgram(program);
}
