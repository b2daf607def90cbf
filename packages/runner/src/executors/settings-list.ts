import { getChild } from "../../../../src/lib/json-pointer.ts";
import { isObject } from "../../../../src/lib/json-value.ts";
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

/** The names of the stacks whose executor is built in: each checks out the commit of the source. In NFC. */
export function namesWithExecutor(configuration: unknown): Set<string> {
  const stacks = getChild(configuration, "stacks");
  const named = Object.entries(isObject(stacks) ? stacks : {}).filter(([, values]) => {
    const executor = getChild(values, "executor");
    return typeof executor === "string" && Object.hasOwn(EXECUTOR_SETTINGS, executor);
  });
  return new Set(named.map(([name]) => name.normalize()));
}
