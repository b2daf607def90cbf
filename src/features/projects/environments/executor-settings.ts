import { at, checkSettings } from "../../../../packages/runner/src/executors/settings.ts";
import { EXECUTOR_SETTINGS } from "../../../../packages/runner/src/executors/settings-list.ts";
import { getChild } from "../../../lib/json-pointer.ts";
import { equalJson, isObject } from "../../../lib/json-value.ts";
import type { Configuration } from "./model.ts";

const STACKS = "stacks";

/**
 * What is wrong with the settings of executors, for those stacks whose object is not the one `before`: a write that does
 * not touch it must not fail because of it. Only the runner knows other executors.
 */
export function findSettingsProblems(after: Configuration, before: Configuration = {}): string[] {
  const stacks = getChild(after, STACKS);
  if (!isObject(stacks)) return [];
  return Object.entries(stacks).flatMap(([name, values]) => {
    const executor = getChild(values, "executor");
    if (!isObject(values) || typeof executor !== "string") return [];
    const settings = Object.hasOwn(EXECUTOR_SETTINGS, executor) && EXECUTOR_SETTINGS[executor];
    const earlier = getChild(getChild(before, STACKS), name);
    if (!settings || equalJson(values, earlier, { nodes: 0 })) return [];
    return checkSettings({ name: executor, settings }, { pointer: at("/stacks", name), values });
  });
}
