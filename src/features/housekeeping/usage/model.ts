import { type LimitedKind, QUOTAS } from "../../../lib/resource-types.ts";

/** These count toward the bytes only. Each of the others has limits of its own. */
const UNLIMITED_KINDS = ["deployments", "others"] as const;
export type UsageKind = (typeof UNLIMITED_KINDS)[number] | LimitedKind;

export function isUnlimited(kind: UsageKind): kind is (typeof UNLIMITED_KINDS)[number] {
  return (UNLIMITED_KINDS as readonly UsageKind[]).includes(kind);
}

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

/** The responses for repeats have limits of their own. */
export const SHOWN_HISTORY = [...COUNTED_HISTORY, "idempotency_records"] as const;
export type ShownHistory = (typeof SHOWN_HISTORY)[number];

/** The types of resources that `usage` counts, as triggers on their tables write them. */
export const USAGE_KINDS = [
  "deployments",
  ...(Object.keys(QUOTAS) as LimitedKind[]),
  "others",
] as const;
