import type { TextForm } from "./setting.ts";

export const DURATION = {
  pattern: /^([1-9]\d{0,5})(s|m|h)$/,
  description: "a duration, such as 90s, 10m or 1h",
} satisfies TextForm;
