#!/usr/bin/env node
/** `longshore-server`: Longshore on one machine. */
import { runServerProgram } from "./program.ts";

// The server goes on when nobody reads what it prints any more.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

process.exitCode = await runServerProgram(process.argv.slice(2), import.meta.dirname);
