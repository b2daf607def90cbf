/** Where an integration sends its notifications (spec, "Notification integration"). */
export const INTEGRATION_TYPES = ["slack", "webhook"] as const;
export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

/** Why nothing is sent to an integration any more. */
export const DISABLED_REASONS = ["gone", "failing"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
