export const RECOVERY_STATUSES = ["running", "finished"] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];

/** The failed deliveries that one batch reads. */
export const READ_AT_ONCE = 500;
