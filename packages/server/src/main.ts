#!/usr/bin/env node
/** `longshore-server`: Longshore on one machine. */
import { runServerProgram } from "./program.ts";

process.exitCode = await runServerProgram(process.argv.slice(2), import.meta.dirname);
