import { defineProgram } from "../../../runner/src/executors/program-file.ts";
import { SETTINGS } from "./settings.ts";

/** Applies a module of OpenTofu or Terraform. See docs/deploy-with/terraform.md. */
export const terraform = defineProgram("terraform", SETTINGS, {
  endsItsTools: true,
  variables: ["TF_VAR_*"],
});
