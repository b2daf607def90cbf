/** What may become of a delivery. It is pending until it has arrived or been given up, for good. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery failed although its last attempt was not made or not recorded. */
export const FAILURE_REASONS = [
  "integration_disabled",
  "too_many_attempts",
  "not_handled",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];
