import type { Settings } from "../../../runner/src/executors/setting.ts";

export const SETTINGS = {
  path: { type: "file", isRequired: true },
  arguments: { type: "texts" },
} as const satisfies Settings;
