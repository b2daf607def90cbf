export const RECOVERY_STATUSES = ["running", "finished"] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];
