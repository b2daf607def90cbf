#!/usr/bin/env node
/** `longshore`: the command line of Longshore. */
import { runProgram } from "./program.ts";

// Without a listener, a file size limit ends the process instead of failing the write.
process.on("SIGXFSZ", () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), process);
