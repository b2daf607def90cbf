import type { Settings } from "../../../runner/src/executors/setting.ts";

export const SETTINGS = {
  folder: { type: "folder" },
  environment: { type: "text" },
  name: { type: "text" },
  variables: { type: "map" },
  secrets: { type: "map" },
} as const satisfies Settings;
