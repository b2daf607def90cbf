import type { Settings } from "../../../runner/src/executors/setting.ts";

/** What docs/deploy-with/terraform.md lists. */
export const SETTINGS = {
  folder: { type: "folder" },
  variables: { type: "values" },
  backend: { type: "values" },
  workspace: { type: "text" },
  lock_timeout: { type: "text" },
  destroy: { type: "boolean" },
} as const satisfies Settings;
