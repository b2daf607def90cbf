#!/usr/bin/env -S node --experimental-strip-types --disable-warning=ExperimentalWarning
/** `npx longshore`: the command line of Longshore. */
import { API_USAGE, runApi } from "./api-command.ts";
import { CliError, UsageError } from "./errors.ts";

const USAGE = `Usage: longshore COMMAND

  api   send a request to the API and print its response

${API_USAGE}`;

const [command, ...args] = process.argv.slice(2);

try {
  if (command === "api") await runApi(args, process.env);
  else if (command === "--help" || command === "-h") console.log(USAGE);
  else throw new UsageError(describe(command), USAGE);
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function describe(name: string | undefined): string {
  return name === undefined ? "Name a command." : `There is no command ${name}.`;
}
