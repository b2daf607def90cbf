import { DURATION } from "../../../runner/src/executors/duration.ts";
import type { Settings, TextForm } from "../../../runner/src/executors/setting.ts";

const WORKSPACE = {
  pattern: /^[A-Za-z0-9][\w.-]{0,89}$/,
  description: "1 to 90 letters, digits, _, . and -, and begin with a letter or a digit",
} satisfies TextForm;

/** What docs/deploy-with/terraform.md lists. */
export const SETTINGS = {
  folder: { type: "folder" },
  variables: { type: "values" },
  backend: { type: "values" },
  workspace: { type: "text", form: WORKSPACE },
  lock_timeout: { type: "text", form: DURATION },
  destroy: { type: "boolean" },
} as const satisfies Settings;
