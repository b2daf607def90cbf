import type { Settings, SettingValues, TextForm } from "../../../runner/src/executors/setting.ts";

/** Of CloudFormation. */
export const STACK_NAME = {
  pattern: /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
  description: "a letter, and then up to 127 letters, digits and hyphens",
} satisfies TextForm;

/** Of AWS: it becomes a part of the host that gets the requests. */
export const REGION = {
  pattern: /^[a-z]{2,3}(-[a-z]+)+-\d{1,2}$/,
  description: "a region of AWS, such as eu-central-1",
} satisfies TextForm;

const ROLE = {
  pattern: /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
  description: "the ARN of a role, such as arn:aws:iam::123456789012:role/deploy",
} satisfies TextForm;

export const SETTINGS = {
  template: { type: "file", isRequired: true },
  parameters: { type: "map" },
  stack_name: { type: "text", form: STACK_NAME },
  capabilities: {
    type: "texts",
    choices: ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
  },
  region: { type: "text", form: REGION },
  tags: { type: "map" },
  role: { type: "text", form: ROLE },
} as const satisfies Settings;

export type CloudFormationSettings = SettingValues<typeof SETTINGS>;
