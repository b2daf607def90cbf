#!/usr/bin/env node
/** `longshore`: the command line of Longshore. */
import { ExitCode } from "./errors.ts";
import { Output } from "./output.ts";
import { runProgram } from "./program.ts";

// A reader such as head may end before the output does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

// Without a listener, a file size limit ends the process instead of failing the write.
process.on("SIGXFSZ", () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  stdin: process.stdin,
  output: new Output(process.stdout, process.stderr),
  exitCode: ExitCode.succeeded,
});
