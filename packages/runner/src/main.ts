#!/usr/bin/env node
/** `longshore-runner`, and `npm run runner`: the same as `longshore runner`. */
import manifest from "../package.json" with { type: "json" };
import { runRunner } from "./runner.ts";

const args = process.argv.slice(2);
if (args.includes("--version")) console.log(manifest.version);
else process.exitCode = await runRunner(args, process.env);
