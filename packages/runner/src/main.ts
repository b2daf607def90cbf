/** `npm run runner`: the same as `longshore runner`. */
import { runRunner } from "./runner.ts";

process.exitCode = await runRunner(process.argv.slice(2), process.env);
