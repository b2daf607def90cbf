import type { Settings, TextForm } from "../../../runner/src/executors/setting.ts";

/** wrangler makes paths of the API of names and environments. */
const NAME = {
  pattern: /^\w[\w.-]*$/,
  description: "letters, digits, _, - and ., and begin with neither - nor a dot",
} satisfies TextForm;

export const SETTINGS = {
  folder: { type: "folder" },
  environment: { type: "text", form: NAME },
  name: { type: "text", form: NAME },
  variables: { type: "map" },
  secrets: { type: "map" },
} as const satisfies Settings;
