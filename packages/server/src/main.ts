#!/usr/bin/env node
/** `longshore-server`: Longshore on one machine. */
import { runServerProgram } from "./program.ts";

// A closed pipe, such as that of `| head`, must not end the server.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

process.exitCode = await runServerProgram(process.argv.slice(2), import.meta.dirname);
