import type { Settings } from "../../../runner/src/executors/setting.ts";

export const SETTINGS = {
  files: { type: "files", isRequired: true },
  variables: { type: "map" },
  profiles: { type: "texts" },
  timeout: { type: "text" },
  rollback: { type: "boolean" },
  url: { type: "text" },
} as const satisfies Settings;
