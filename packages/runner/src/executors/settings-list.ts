import { SETTINGS as CLOUDFORMATION } from "../../../executors/cloudformation/src/settings.ts";
import { SETTINGS as COMPOSE } from "../../../executors/compose/src/settings.ts";
import { SETTINGS as KUBERNETES } from "../../../executors/kubernetes/src/settings.ts";
import { SETTINGS as SCRIPT } from "../../../executors/script/src/settings.ts";
import { SETTINGS as TERRAFORM } from "../../../executors/terraform/src/settings.ts";
import { SETTINGS as WORKERS } from "../../../executors/workers/src/settings.ts";
import type { Settings } from "./setting.ts";

/** Of the executors in list.ts, by their names. Not from there, because the service checks settings, too, without programs. */
export const EXECUTOR_SETTINGS: Readonly<Record<string, Settings>> = {
  cloudformation: CLOUDFORMATION,
  compose: COMPOSE,
  kubernetes: KUBERNETES,
  script: SCRIPT,
  terraform: TERRAFORM,
  workers: WORKERS,
};
