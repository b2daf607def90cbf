import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
export const MAXIMUM_AGE = durationOf(LIMITS.recoveryMs.value);
export const SINCE_TOO_EARLY = `Send a time of the last ${MAXIMUM_AGE}.`;

export const RECOVERY_STATUSES = ["running", "finished"] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];

/** The failed deliveries that one batch reads. */
export const READ_AT_ONCE = 500;
