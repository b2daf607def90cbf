import type { Settings, SettingValues } from "../../../runner/src/executors/setting.ts";

export const SETTINGS = {
  template: { type: "file", isRequired: true },
  parameters: { type: "map" },
  stack_name: { type: "text" },
  capabilities: {
    type: "texts",
    choices: ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
  },
  region: { type: "text" },
  tags: { type: "map" },
  role: { type: "text" },
} as const satisfies Settings;

export type CloudFormationSettings = SettingValues<typeof SETTINGS>;
