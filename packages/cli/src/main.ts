#!/usr/bin/env node
/** `longshore`: the command line of Longshore. */
import { ExitCode } from "./errors.ts";
import { Output } from "./output.ts";
import { runProgram } from "./program.ts";

// Without a listener, a file size limit ends the process instead of failing the write.
process.on("SIGXFSZ", () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  stdin: process.stdin,
  output: new Output(process.stdout, process.stderr),
  exitCode: ExitCode.succeeded,
});
