import { defineProgram } from "../../../runner/src/executors/program-file.ts";
import { SETTINGS } from "./settings.ts";

/** Deploys a Worker with wrangler. See docs/deploy-with/workers.md. */
export const workers = defineProgram("workers", SETTINGS);
