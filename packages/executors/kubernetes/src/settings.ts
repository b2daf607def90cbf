import { DURATION } from "../../../runner/src/executors/duration.ts";
import type { Settings, TextForm } from "../../../runner/src/executors/setting.ts";

export const NAMESPACE = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  description: "1 to 63 lower-case letters, digits and -, with no - at its start or end",
} satisfies TextForm;
const URL_OF_STACK = {
  pattern: /^https?:\/\/[^\s@]+$/,
  description: "an http or https URL without a user name",
} satisfies TextForm;

/** What docs/deploy-with/kubernetes.md lists. */
export const SETTINGS = {
  path: { type: "path", isRequired: true },
  images: { type: "map" },
  namespace: { type: "text", form: NAMESPACE },
  create_namespace: { type: "boolean" },
  context: { type: "text" },
  kubeconfig: { type: "text" },
  timeout: { type: "text", form: DURATION },
  force_conflicts: { type: "boolean" },
  outputs: { type: "map" },
  url: { type: "text", form: URL_OF_STACK },
} as const satisfies Settings;
