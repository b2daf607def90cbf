import { defineProgram } from "../../../runner/src/executors/program-file.ts";
import { SETTINGS } from "./settings.ts";

/** Deploys a template of the checkout with a change set. See docs/deploy-with/cloudformation.md. */
export const cloudFormation = defineProgram("cloudformation", SETTINGS);
