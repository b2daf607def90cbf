import { type LimitedKind, QUOTAS } from "../../../lib/resource-types.ts";

/** Deployments count toward the bytes only: their number is limited per environment. */
export type UsageKind = "deployments" | LimitedKind;

/** What is kept for a time, or until the share of its organization is full. */
export const HISTORY_KINDS = [
  "changelog",
  "events",
  "deliveries",
  "delivery_attempts",
  "deployments",
] as const;

/** It has no share. */
export const AUDIT_KIND = "audit_log";

export const COUNTED_HISTORY = [...HISTORY_KINDS, AUDIT_KIND] as const;
export type CountedHistory = (typeof COUNTED_HISTORY)[number];

/** The types of resources that `usage` counts, as triggers on their tables write them. */
export const USAGE_KINDS = ["deployments", ...(Object.keys(QUOTAS) as LimitedKind[])] as const;
