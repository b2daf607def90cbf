import { defineProgram } from "../../../runner/src/executors/program-file.ts";
import { SETTINGS } from "./settings.ts";

/** Applies manifests with kubectl. See docs/deploy-with/kubernetes.md. */
export const kubernetes = defineProgram("kubernetes", SETTINGS, { endsItsTools: true });
