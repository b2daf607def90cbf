import { DURATION } from "../../../runner/src/executors/duration.ts";
import type { Settings, TextForm } from "../../../runner/src/executors/setting.ts";

/** As Compose has it. */
const PROFILE = {
  pattern: /^[A-Za-z0-9][\w.-]*$/,
  description: "letters, digits, _, . and -, and begin with a letter or a digit",
} satisfies TextForm;
const URL_OF_STACK = {
  pattern: /^https?:\/\/[^\s@]+$/,
  description: "an http or https URL without a user name",
} satisfies TextForm;

export const SETTINGS = {
  files: { type: "files", isRequired: true },
  variables: { type: "map" },
  profiles: { type: "texts", form: PROFILE },
  timeout: { type: "text", form: DURATION },
  rollback: { type: "boolean" },
  url: { type: "text", form: URL_OF_STACK },
} as const satisfies Settings;
