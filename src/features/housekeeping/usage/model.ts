import { type LimitedKind, QUOTAS } from "../../../lib/resource-types.ts";

/** Deployments count toward the bytes only: their number is limited per environment. */
export type UsageKind = "deployments" | LimitedKind;

export type UsageByKind = ReadonlyMap<UsageKind, { records: number; bytes: number }>;

/** The types of resources that `usage` counts, as triggers on their tables write them. */
export const USAGE_KINDS = ["deployments", ...(Object.keys(QUOTAS) as LimitedKind[])] as const;
