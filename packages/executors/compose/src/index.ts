import { defineProgram } from "../../../runner/src/executors/program-file.ts";
import { SETTINGS } from "./settings.ts";

/** Deploys services with Docker Compose. See docs/deploy-with/compose.md. */
export const compose = defineProgram("compose", SETTINGS, { variables: ["*"] });
